import { type Static, Type } from "@sinclair/typebox";
import type { BenchOptions } from "../bench.ts";
import { inRounds, valuesOf, type Way } from "../measure/rounds.ts";
import { spreadOf } from "../measure/statistics.ts";
import { table, whole } from "../measure/table.ts";
import { CONNECTIONS, load, type Sample, type Target } from "../measure/wrk.ts";
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
  plan: Plan,
  options: BenchOptions,
): Promise<Latency[]> {
  const ways: Way[] = [];
  for (const { title, target } of targets) {
    options.progress(`full rate: ${title}`);
    const { requests_per_second } = await load(target, plan.warm_up_seconds);
    const pause_ms = (1_000 * CONNECTIONS) / (requests_per_second / 2);
    ways.push({ title, connections: CONNECTIONS, target: { ...target, pause_ms } });
  }
  const measured = await inRounds(ways, plan, options);
  return measured.map((way) => {
    const median = (figure: keyof Sample) => spreadOf(valuesOf(way, figure)).median;
    return {
      title: way.title,
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
