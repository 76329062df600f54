import type { BenchOptions } from "../bench.ts";
import { residentBytes } from "../measure/machine.ts";
import { turnedBy } from "../measure/rounds.ts";
import { whole } from "../measure/table.ts";
import { load, type Sample, type Target } from "../measure/wrk.ts";
import { withConnections } from "./connections.ts";
import type { Load } from "./loads.ts";
import { type Subject, targetOf } from "./subjects.ts";

const MIB = 1_048_576;

export interface FloorSample extends Sample {
  /** The number of new connections to services for each 1 000 requests. */
  readonly connections_per_1000: number;
}

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly warm_up_seconds: number;
}

/** One combination of a subject and a load, with one sample for each round. */
export interface Measured {
  readonly what: { readonly subject: Subject; readonly load: Load };
  readonly title: string;
  readonly target: Target;
  readonly clients: number;
  readonly samples: FloorSample[];
  /** The memory of the process after the warm-up, which has put no greater load on it before. */
  memory_mib: number;
}

/** Returns every combination of a load and a subject, grouped by load and without samples. */
export function cellsOf(subjects: readonly Subject[], loads: readonly Load[]): Measured[] {
  return loads.flatMap((each) =>
    subjects.map((subject) => ({
      what: { subject, load: each },
      title: `${each.title}: ${subject.title}`,
      target: targetOf(subject, each.services),
      clients: each.clients,
      samples: [],
      memory_mib: Number.NaN,
    })),
  );
}

/** Measures everything once in each round, so that other work on the machine affects all subjects equally. */
export async function measureInRounds(
  upstream: string,
  measured: readonly Measured[],
  { rounds, seconds, warm_up_seconds }: Plan,
  { progress }: Pick<BenchOptions, "progress">,
): Promise<void> {
  for (const each of measured) {
    progress(`warming up: ${each.title}`);
    await load(each.target, warm_up_seconds, each.clients);
    each.memory_mib = residentBytes(each.target.pid) / MIB;
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { title, target, clients, samples } of turnedBy(measured, round)) {
      const { result, connections_per_1000 } = await withConnections(upstream, () =>
        load(target, seconds, clients),
      );
      samples.push({ ...result, connections_per_1000 });
      progress(`round ${round}/${rounds}  ${title}: ${whole(result.requests_per_second)}/s`);
    }
  }
}
