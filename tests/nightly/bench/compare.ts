import { unpackSource } from "../../support/processes/older-source.ts";
import { RunImpossible } from "../../support/run-impossible.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Bench } from "./bench.ts";
import { memberPaths, publicPaths } from "./gateway/catalog.ts";
import { startIdentity } from "./gateway/identity.ts";
import { HEADERS, MEMBER_HEADERS, startGateway, startUpstream } from "./gateway/subjects.ts";
import { Bed, type Started } from "./measure/bed.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { CONNECTIONS, type Sample } from "./measure/wrk.ts";

/**
 * Returns the bench `compare`, which compares the gateway of the working tree with the gateway of another
 * commit. Both use the same upstream service, Redis and routes, and are measured alternately.
 */
export function compareWith(revision: string | undefined): Bench {
  return {
    summary: "the gateway of the working tree compared with that of another commit: compare REV",
    async run(options) {
      if (revision === undefined) throw new RunImpossible("Name a commit: bun run bench compare REV.");
      options.progress(`checking out ${revision}`);
      const root = temporaryFolder("compare");
      await unpackSource(revision, root);
      await using bed = Bed.onTwoCores();
      await using identity = await startIdentity();
      const services = {
        upstream: await startUpstream(bed),
        redisUrl: (await bed.redis()).url,
        ...identity,
      };
      const mine = waysOf("here", await startGateway(bed, services, 1_000));
      const theirs = waysOf(revision, await startGateway(bed, services, 1_000, { root }));
      const ways = mine.flatMap((way, index) => [way, ...theirs.slice(index, index + 1)]);
      const plan = options.quick ? { rounds: 3, seconds: 2 } : { rounds: 9, seconds: 3 };
      const measured = await inRounds(ways, plan, options);
      const parts = [
        `${plan.rounds} rounds of ${plan.seconds} s; a ratio above 1 means that the working tree is faster (for p99: slower)`,
        table(["", "here/s", "there/s", "ratio", "min..max", "by CPU", "p99"], rowsOf(measured)),
      ];
      return { parts, data: { revision, plan, measured } };
    },
  };
}

function waysOf(whose: string, { pid, url }: Started): Way[] {
  const way = (what: string, paths: string[], headers: Record<string, string>): Way => ({
    title: `${what}, ${whose}`,
    connections: CONNECTIONS,
    target: { pid, url, paths, headers },
  });
  return [way("all features", memberPaths, MEMBER_HEADERS), way("public", publicPaths, HEADERS)];
}

/** Returns a table row for each pair of measurements: the working tree's and the other commit's. */
function rowsOf(measured: readonly MeasuredWay[]): string[][] {
  return measured.flatMap((theirs, index) => {
    const mine = measured[index - 1];
    if (index % 2 === 0 || mine === undefined) return [];
    const median = (way: MeasuredWay) => whole(spreadOf(valuesOf(way, "requests_per_second")).median);
    const ratio = (figure: keyof Sample) => ratiosOf(valuesOf(mine, figure), valuesOf(theirs, figure));
    const { min, max } = ratio("requests_per_second");
    return [
      [
        mine.title.replace(", here", ""),
        median(mine),
        median(theirs),
        ratio("requests_per_second").median.toFixed(3),
        `${min.toFixed(3)}..${max.toFixed(3)}`,
        ratio("requests_per_cpu_second").median.toFixed(3),
        ratio("p99_ms").median.toFixed(3),
      ],
    ];
  });
}
