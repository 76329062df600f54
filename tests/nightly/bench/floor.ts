import { ROOT } from "../../support/root.ts";
import type { Bench } from "./bench.ts";
import { SERVICES } from "./floor/catalog.ts";
import { goalsOf } from "./floor/goals.ts";
import { LOADS, type Load } from "./floor/loads.ts";
import { cellsOf, measureInRounds, type Plan } from "./floor/measure.ts";
import { figureTable } from "./floor/report.ts";
import { type Run, speedOf } from "./floor/speed.ts";
import { documentsOf } from "./floor/speed-documents.ts";
import { startSubjects, targetOf } from "./floor/subjects.ts";
import { Bed } from "./gateway/bed.ts";
import { startIdentity } from "./gateway/identity.ts";
import { rivalMissing } from "./gateway/rival.ts";
import { startServices } from "./gateway/subjects.ts";
import { verify } from "./gateway/verify.ts";
import { BenchImpossible } from "./measure/cores.ts";
import { goalTable } from "./measure/goal-table.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";

const PLAN: Plan = { rounds: 7, seconds: 2, warm_up_seconds: 3 };
const QUICK: Plan = { rounds: 3, seconds: 1, warm_up_seconds: 1 };

/**
 * Returns the bench `floor`, which shows the cost of the gateway's guarantees. It compares the gateway with a
 * bare pass-through, and with nginx and Lua. The loads differ in the number of clients and of services.
 *
 * @param loadName the only load to measure; by default all loads
 */
export function floorUnder(loadName?: string): Bench {
  return {
    summary: `the gateway compared with a pass-through and nginx + Lua: floor [${names(LOADS)}] [--record]`,
    async run(options) {
      const loads = loadName === undefined ? LOADS : LOADS.filter(({ name }) => name === loadName);
      if (loads.length === 0)
        throw new BenchImpossible(`Name one of the loads ${names(LOADS)}, or no load to run all of them.`);
      if (options.record) requireWhole(loadName);
      const machine = describeMachine();
      const plan = options.quick ? QUICK : PLAN;
      const missing = rivalMissing();
      if (missing !== null) options.progress(missing);
      options.progress("starting the subjects");
      await using bed = await Bed.create();
      await using identity = await startIdentity();
      const [upstream, redis] = [await startServices(bed, SERVICES), await bed.redis()];
      const subjects = await startSubjects(bed, { upstream, redisUrl: redis.url, ...identity });
      for (const subject of subjects) await verify({ ...subject, ...targetOf(subject, SERVICES) });
      const cells = cellsOf(subjects, loads);
      await measureInRounds(upstream.url, cells, plan, options);
      const goals = goalsOf(cells);
      if (options.record) await writeSpeed({ machine, plan, cells, goals });
      const text = [
        machineLine(machine),
        `${plan.rounds} rounds of ${plan.seconds} s each; one core for the subject, one for load and services`,
        ...(missing === null ? [] : [missing]),
        "",
        figureTable(cells),
        "",
        goalTable(goals),
      ].join("\n");
      return { text, goals, data: { machine, plan, cells, goals } };
    },
  };
}

/** Refuses to write a set of figures that would not have every load and every row. */
function requireWhole(loadName: string | undefined): void {
  if (loadName === undefined && rivalMissing() === null) return;
  throw new BenchImpossible(
    "The documents show every load and row: run floor --record without other arguments, and install nginx with Lua.",
  );
}

async function writeSpeed(run: Omit<Run, "day" | "commit">): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const commit = (await Bun.$`git rev-parse --short=8 HEAD`.cwd(ROOT).text()).trim();
  const documents = await documentsOf(speedOf({ ...run, day, commit }));
  for (const [path, text] of documents) await Bun.write(path, text);
}

function names(loads: readonly Load[]): string {
  return loads.map(({ name }) => name).join(" | ");
}
