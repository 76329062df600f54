import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";

const HTTP_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DB_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** The metrics that every service has (Gateway specification, Emitted signals), in a registry of its own. */
export interface Metrics {
  /** A service adds its own metrics here. */
  readonly registry: Registry;
  readonly httpRequests: Counter<"route" | "method" | "status">;
  readonly httpDuration: Histogram<"route" | "method">;
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
    httpRequests: new Counter({
      name: "http_requests_total",
      help: "Requests answered, by matched route template, method and status.",
      labelNames: ["route", "method", "status"],
      registers,
    }),
    httpDuration: new Histogram({
      name: "http_request_duration_seconds",
      help: "Time from the request's arrival to its response, by matched route template and method.",
      labelNames: ["route", "method"],
      buckets: HTTP_BUCKETS_SECONDS,
      registers,
    }),
    observeStore: storeObserver(registers),
    text: () => registry.metrics(),
  };
}

function storeObserver(registers: Registry[]): StoreObserver {
  const labelNames = ["db_system_name", "db_operation_name", "db_namespace"] as const;
  const operations = new Counter({
    name: "db_operations_total",
    help: "Operations on a store.",
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: "db_operation_errors_total",
    help: "Operations on a store that failed.",
    labelNames,
    registers,
  });
  const duration = new Histogram({
    name: "db_operation_duration_seconds",
    help: "Duration of operations on a store.",
    labelNames,
    buckets: DB_BUCKETS_SECONDS,
    registers,
  });
  return (operation) => {
    const labels = {
      db_system_name: operation.system,
      db_operation_name: operation.operation,
      db_namespace: operation.namespace,
    };
    operations.inc(labels);
    if (operation.failed) failures.inc(labels);
    duration.observe(labels, operation.duration_ms / 1000);
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
