import type { TelemetryConfig } from "../config/index.ts";
import { observingBoth, type StoreObserver } from "../stores/observer.ts";
import { type AccessSample, accessSample } from "./access-sample.ts";
import { collectedCounter, single } from "./collected.ts";
import { createLog, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { exportMetrics, type MetricsExport } from "./metrics-export.ts";
import type { ServiceIdentity } from "./otlp-export.ts";
import type { Tracing } from "./request-trace.ts";
import { createTracing } from "./tracing.ts";

/** What a service tells the world about itself: log, metrics, traces. */
export interface Telemetry {
  readonly log: Logger;
  /** Whether a request gets a line (`LOG_ACCESS_SAMPLE`). To be asked once for each. */
  readonly hasAccessLine: AccessSample;
  /** Logs from `debug` on, and from `LOG_LEVEL` on when called again. */
  switchLogLevel(): void;
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
  const sink = createLog({
    service: service.name,
    level: config.LOG_LEVEL,
    file: config.LOG_FILE,
    format: config.LOG_FORMAT,
    color: config.NO_COLOR === undefined,
  });
  const { log } = sink;
  const metrics = createMetrics();
  collectedCounter(metrics.registry, {
    name: "log_lines_dropped_total",
    help: "Log lines that found no room, since nobody read those before them.",
    read: () => single(sink.dropped),
  });
  const tracing = createTracing(service, config, log);
  const pushed: MetricsExport = exportMetrics(service, config, metrics.registry, log);
  return {
    log,
    hasAccessLine: accessSample(Number(config.LOG_ACCESS_SAMPLE)),
    switchLogLevel: () => sink.switchLevel(),
    metrics,
    tracing,
    exportedTracing: tracing.enabled ? tracing : undefined,
    observeStore: tracing.enabled
      ? observingBoth(metrics.observeStore, tracing.observeStore)
      : metrics.observeStore,
    async close() {
      metrics.stop();
      await Promise.allSettled([tracing.shutdown(), pushed.shutdown()]);
      await sink.flush();
    },
  };
}
