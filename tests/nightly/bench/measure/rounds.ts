import type { BenchOptions } from "../bench.ts";
import { cpuSecondsWithChildren } from "./machine.ts";
import { whole } from "./table.ts";
import { load, type Sample, type Target } from "./wrk.ts";

export interface Way {
  readonly title: string;
  readonly target: Target;
  readonly connections: number;
  /** The ids of other processes that work on each request. Their children are counted too. */
  readonly behind?: readonly number[];
}

export interface MeasuredWay extends Way {
  readonly samples: readonly Sample[];
  /** For each round, the CPU time for one request of each process in `behind`, in microseconds. */
  readonly behind_us: readonly (readonly number[])[];
}

/**
 * Measures each subject once in every round, so that other work on the machine affects all subjects equally.
 */
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
    for (const { title, target, connections, behind = [], samples, behind_us } of turnedBy(measured, round)) {
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

/**
 * Rotates the items so that each round starts with a different one, and no item always follows the heaviest.
 */
export function turnedBy<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

export function valuesOf({ samples }: MeasuredWay, figure: keyof Sample): number[] {
  return samples.map((sample) => sample[figure]);
}
