import { type Static, Type } from "@sinclair/typebox";
import type { BenchOptions } from "../bench.ts";
import { turnedBy } from "../measure/rounds.ts";
import { spreadOf } from "../measure/statistics.ts";
import { table, whole } from "../measure/table.ts";
import { CONNECTIONS, load, pacedLoad, type Sample, type Target } from "../measure/wrk.ts";
import type { Plan } from "./measure.ts";

export const Latency = Type.Object({
  title: Type.String(),
  requests_per_second: Type.Number(),
  p50_ms: Type.Number(),
  p90_ms: Type.Number(),
  p99_ms: Type.Number(),
});
/** The latency of a subject at about half of the rate that it can reach. */
export type Latency = Readonly<Static<typeof Latency>>;

export interface Titled {
  readonly title: string;
  readonly target: Target;
}

/** Measures each target with 64 clients at half of its full rate. */
export async function latenciesAtHalfLoad(
  targets: readonly Titled[],
  { rounds, seconds, warm_up_seconds }: Plan,
  { progress }: Pick<BenchOptions, "progress">,
): Promise<Latency[]> {
  const paced: (Titled & { readonly pause_ms: number; readonly samples: Sample[] })[] = [];
  for (const { title, target } of targets) {
    progress(`full rate: ${title}`);
    const { requests_per_second } = await load(target, warm_up_seconds, CONNECTIONS);
    paced.push({ title, target, pause_ms: (1_000 * CONNECTIONS) / (requests_per_second / 2), samples: [] });
  }
  for (let round = 1; round <= rounds; round++) {
    for (const { title, target, pause_ms, samples } of turnedBy(paced, round)) {
      const sample = await pacedLoad(target, seconds, CONNECTIONS, pause_ms);
      samples.push(sample);
      progress(`round ${round}/${rounds}  half load: ${title}: p99 ${sample.p99_ms.toFixed(2)} ms`);
    }
  }
  return paced.map(({ title, samples }) => {
    const median = (figure: keyof Sample) => spreadOf(samples.map((sample) => sample[figure])).median;
    return {
      title,
      requests_per_second: Math.round(median("requests_per_second")),
      p50_ms: Number(median("p50_ms").toFixed(2)),
      p90_ms: Number(median("p90_ms").toFixed(2)),
      p99_ms: Number(median("p99_ms").toFixed(2)),
    };
  });
}

export const LATENCY_HEAD = ["Half load, 64 clients", "requests/s", "p50 ms", "p90 ms", "p99 ms"];

export function latencyRows(latencies: readonly Latency[]): string[][] {
  return latencies.map(({ title, requests_per_second, p50_ms, p90_ms, p99_ms }) => [
    title,
    whole(Number(requests_per_second.toPrecision(3))),
    ...[p50_ms, p90_ms, p99_ms].map((ms) => ms.toFixed(2)),
  ]);
}

export function latencyTable(latencies: readonly Latency[]): string {
  return table(LATENCY_HEAD, latencyRows(latencies));
}
