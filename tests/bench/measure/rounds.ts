import type { BenchOptions } from "../bench.ts";
import { whole } from "./table.ts";
import { load, type Sample, type Target } from "./wrk.ts";

/** What is measured beside others, by a name that the table shows. */
export interface Way {
  readonly title: string;
  readonly target: Target;
  readonly connections: number;
}

export interface MeasuredWay extends Way {
  /** One for each round. */
  readonly samples: readonly Sample[];
}

/** Loads each in turn, round after round, so that what disturbs the machine meets all alike. */
export async function inRounds(
  ways: readonly Way[],
  { rounds, seconds }: { rounds: number; seconds: number },
  { progress }: BenchOptions,
): Promise<MeasuredWay[]> {
  const measured = ways.map((way): Way & { samples: Sample[] } => ({ ...way, samples: [] }));
  for (const { target, connections } of ways) await load(target, 1, connections); // warms up
  for (let round = 1; round <= rounds; round++) {
    for (const { title, target, connections, samples } of measured) {
      const sample = await load(target, seconds, connections);
      samples.push(sample);
      progress(`round ${round}/${rounds}  ${title}: ${whole(sample.requests_per_second)}/s`);
    }
  }
  return measured;
}

export function valuesOf({ samples }: MeasuredWay, figure: keyof Sample): number[] {
  return samples.map((sample) => sample[figure]);
}
