import type { BenchOptions } from "../bench.ts";
import { cpuSecondsWithChildren } from "./machine.ts";
import { whole } from "./table.ts";
import { load, type Sample, type Target } from "./wrk.ts";

/** A subject of a measurement, with its name in the table. */
export interface Way {
  readonly title: string;
  readonly target: Target;
  readonly connections: number;
  /** The processes behind the target that work for each request, with their children. */
  readonly behind?: readonly number[];
}

export interface MeasuredWay extends Way {
  /** The samples, one for each round. */
  readonly samples: readonly Sample[];
  /** CPU of each process of `behind` for a request, in µs; one list for each round. */
  readonly behind_us: readonly (readonly number[])[];
}

/** Loads each subject in turn, round after round, so that a disturbance of the machine affects all alike. */
export async function inRounds(
  ways: readonly Way[],
  { rounds, seconds }: { rounds: number; seconds: number },
  { progress }: BenchOptions,
): Promise<MeasuredWay[]> {
  const measured = ways.map((way): Way & { samples: Sample[]; behind_us: number[][] } => ({
    ...way,
    samples: [],
    behind_us: [],
  }));
  for (const { target, connections } of ways) await load(target, 1, connections); // warms up
  for (let round = 1; round <= rounds; round++) {
    for (const { title, target, connections, behind = [], samples, behind_us } of measured) {
      const before = behind.map(cpuSecondsWithChildren);
      const sample = await load(target, seconds, connections);
      const used = behind.map((pid, index) => cpuSecondsWithChildren(pid) - (before[index] ?? 0));
      samples.push(sample);
      behind_us.push(used.map((cpu_seconds) => (cpu_seconds / sample.requests) * 1e6));
      progress(`round ${round}/${rounds}  ${title}: ${whole(sample.requests_per_second)}/s`);
    }
  }
  return measured;
}

/** Returns the items with another first one in each round, so that no item always follows the heaviest. */
export function turnedBy<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

export function valuesOf({ samples }: MeasuredWay, figure: keyof Sample): number[] {
  return samples.map((sample) => sample[figure]);
}
