import { Counter, type Registry } from "prom-client";
import { DurationHistogram, type DurationSeries } from "./duration-histogram.ts";

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** A request that has been answered. */
export interface AnsweredRequest {
  /** The matched template, never a path: its values are kept for as long as the process lives. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly duration_ms: number;
  /** Of a trace that is recorded; null otherwise. */
  readonly trace_id?: string | null;
}

export type RequestObserver = (request: AnsweredRequest) => void;

/** Requests of one route and method. */
interface Series {
  readonly durations: DurationSeries;
  readonly countByStatus: Map<number, number>;
}

/** Feeds `http_requests_total` and `http_request_duration_seconds` (Gateway specification, Emitted signals). */
export function requestObserver(registers: Registry[]): RequestObserver {
  const all = new Map<string, Map<string, Series>>();
  new Counter({
    name: "http_requests_total",
    help: "Requests answered, by matched route template, method and status.",
    labelNames: ["route", "method", "status"],
    registers,
    collect() {
      this.reset();
      for (const [route, byMethod] of all) {
        for (const [method, { countByStatus }] of byMethod) {
          for (const [status, count] of countByStatus) this.inc({ route, method, status }, count);
        }
      }
    },
  });
  const histogram = new DurationHistogram({
    name: "http_request_duration_seconds",
    help: "Time from the request's arrival to its response, by matched route template and method.",
    labelNames: ["route", "method"],
    buckets: BUCKETS_SECONDS,
    registers,
  });

  const begin = (route: string, method: string): Series => {
    const series = { durations: histogram.series({ route, method }), countByStatus: new Map() };
    const byMethod = all.get(route);
    if (byMethod === undefined) all.set(route, new Map([[method, series]]));
    else byMethod.set(method, series);
    return series;
  };
  return ({ route, method, status, duration_ms, trace_id }) => {
    const { durations, countByStatus } = all.get(route)?.get(method) ?? begin(route, method);
    durations.observe(duration_ms / 1000, trace_id);
    countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
  };
}
