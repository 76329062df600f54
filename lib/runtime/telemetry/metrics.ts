import { Counter, Gauge, Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";
import { type RequestObserver, requestObserver } from "./request-metrics.ts";
import { storeObserver } from "./store-metrics.ts";

/** The metrics that every service has (Gateway specification, Emitted signals), in a registry of its own. */
export interface Metrics {
  /** A service adds its own metrics here. */
  readonly registry: Registry;
  /** Feeds the `http_request*` metrics. */
  readonly observeRequest: RequestObserver;
  /** Feeds the `db_operation*` metrics. */
  readonly observeStore: StoreObserver;
  /** Prometheus text format. */
  text(): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  addProcessMetrics(registers);
  return {
    registry,
    observeRequest: requestObserver(registers),
    observeStore: storeObserver(registers),
    text: () => registry.metrics(),
  };
}

function addProcessMetrics(registers: Registry[]): void {
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since the Unix epoch.",
    registers,
  }).set(Math.round(performance.timeOrigin / 1000));
  let counted = 0;
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      const total = (user + system) / 1e6;
      this.inc(Math.max(0, total - counted));
      counted = total;
    },
  });
}
