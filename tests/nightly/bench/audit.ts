import { temporaryFolder } from "../../support/temporary-folder.ts";
import { AuditBed } from "./audit/bed.ts";
import { insertRows, type WriteSample, writeIntents } from "./audit/writers.ts";
import type { Bench } from "./bench.ts";
import { describeMachine, type Machine, machineLine } from "./measure/machine.ts";
import { ratiosOf, type Spread, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const AT_ONCE = 64;

interface Figure {
  readonly title: string;
  readonly samples: readonly WriteSample[];
  readonly writes_per_second: Spread;
  readonly p50_ms: Spread;
  readonly p99_ms: Spread;
}

/**
 * Compares the rate of intents that the audit service stores with the rate of single-row inserts by pgbench.
 */
export const audit: Bench = {
  summary: "intents per second over HTTP, compared with single-row inserts into the same table",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = new AuditBed(["wrk", "pgbench"]);
    const { url } = await bed.database();
    const { internalUrl } = await bed.service(url);
    const directory = temporaryFolder("bench");
    const rounds = quick ? 1 : 5;
    const seconds = quick ? 2 : 8;
    const ways: Record<string, () => Promise<WriteSample>> = {
      "intents over HTTP, one at a time": () => writeIntents(internalUrl, 1, seconds),
      "single-row inserts, one connection": () => insertRows(url, directory, 1, seconds),
      [`intents over HTTP, ${AT_ONCE} at once`]: () => writeIntents(internalUrl, AT_ONCE, seconds),
      [`single-row inserts, ${AT_ONCE} connections`]: () => insertRows(url, directory, AT_ONCE, seconds),
    };
    const samples = new Map<string, WriteSample[]>(Object.keys(ways).map((title) => [title, []]));
    await writeIntents(internalUrl, AT_ONCE, 2); // warms up
    for (let round = 1; round <= rounds; round++) {
      for (const [title, measure] of Object.entries(ways)) {
        const sample = await measure();
        samples.get(title)?.push(sample);
        progress(`round ${round} of ${rounds}: ${title}: ${whole(sample.writes_per_second)} a second`);
      }
    }
    const figures = [...samples].map(([title, taken]) => figureOf(title, taken));
    return {
      text: textOf(machine, rounds, seconds, figures),
      data: { machine, rounds, seconds, figures },
    };
  },
};

function figureOf(title: string, samples: readonly WriteSample[]): Figure {
  const spread = (field: keyof WriteSample) => spreadOf(samples.map((sample) => sample[field]));
  return {
    title,
    samples,
    writes_per_second: spread("writes_per_second"),
    p50_ms: spread("p50_ms"),
    p99_ms: spread("p99_ms"),
  };
}

function textOf(machine: Machine, rounds: number, seconds: number, figures: readonly Figure[]): string {
  const rows = figures.map(({ title, writes_per_second, p50_ms, p99_ms }) => [
    title,
    whole(writes_per_second.median),
    `${whole(writes_per_second.min)}..${whole(writes_per_second.max)}`,
    p50_ms.median.toFixed(2),
    p99_ms.median.toFixed(2),
  ]);
  const [alone, singleAlone, atOnce, singleAtOnce] = figures;
  const times = (a: Figure | undefined, b: Figure | undefined) => {
    const rates = (figure: Figure | undefined) =>
      figure?.samples.map(({ writes_per_second }) => writes_per_second) ?? [];
    const { median, min, max } = ratiosOf(rates(a), rates(b));
    return `${median.toFixed(2)} (${min.toFixed(2)}..${max.toFixed(2)})`;
  };
  return [
    machineLine(machine),
    `${rounds} rounds of ${seconds} s each, in turn; service, load and PostgreSQL (fsync on) share the machine`,
    "",
    table(["", "a second", "min..max", "p50 ms", "p99 ms"], rows),
    "",
    `intents, 64 at once / one at a time: ${times(atOnce, alone)}`,
    `64 at once, intents / single-row inserts: ${times(atOnce, singleAtOnce)}`,
    `one at a time, intents / single-row inserts: ${times(alone, singleAlone)}`,
  ].join("\n");
}
