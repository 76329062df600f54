import type { TelemetryConfig } from "../config/index.ts";
import { observingBoth, type StoreObserver } from "../stores/observer.ts";
import { createLog, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { exportMetrics, type MetricsExport } from "./metrics-export.ts";
import type { ServiceIdentity } from "./otlp-export.ts";
import type { Tracing } from "./request-trace.ts";
import { createTracing } from "./tracing.ts";

/** What a service tells the world about itself: log, metrics, traces. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The same where traces are exported, undefined where they are not and nothing is to be done for them. */
  readonly exportedTracing: Tracing | undefined;
  /** Told of operations on stores: counts them, and makes spans of those that are done for a request. */
  readonly observeStore: StoreObserver;
  /** Sends and writes what is queued; last step before the process ends. */
  close(): Promise<void>;
}

export function createTelemetry(service: ServiceIdentity, config: TelemetryConfig): Telemetry {
  const { log, flush } = createLog({
    service: service.name,
    level: config.LOG_LEVEL,
    file: config.LOG_FILE,
  });
  const metrics = createMetrics();
  const tracing = createTracing(service, config, log);
  const pushed: MetricsExport = exportMetrics(service, config, metrics.registry, log);
  return {
    log,
    metrics,
    tracing,
    exportedTracing: tracing.enabled ? tracing : undefined,
    observeStore: tracing.enabled
      ? observingBoth(metrics.observeStore, tracing.observeStore)
      : metrics.observeStore,
    async close() {
      metrics.stop();
      await Promise.allSettled([tracing.shutdown(), pushed.shutdown()]);
      await flush();
    },
  };
}
