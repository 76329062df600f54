import type { TelemetryConfig } from "../config/index.ts";
import { observingBoth, type StoreObserver } from "../stores/observer.ts";
import { type AccessSample, accessSample } from "./access-sample.ts";
import { collectedCounter, single } from "./collected.ts";
import { createLog, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { otlpUrl, type ServiceIdentity } from "./otlp-target.ts";
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

export async function createTelemetry(service: ServiceIdentity, config: TelemetryConfig): Promise<Telemetry> {
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
  const tracing = await createTracing(service, config, log);
  const stopPush = await startPush(service, config, metrics, log);
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
      await Promise.allSettled([tracing.shutdown(), stopPush()]);
      await sink.flush();
    },
  };
}

/** The push of metrics over OTLP, where the configuration says so; resolves with what sends the last values. */
async function startPush(
  service: ServiceIdentity,
  config: TelemetryConfig,
  { registry }: Metrics,
  log: Logger,
): Promise<() => Promise<void>> {
  const url = otlpUrl(config, "metrics");
  if (url === null) return async () => {};
  const { exportMetrics } = await import("./metrics-export.ts");
  const pushed = exportMetrics(service, config, url, registry, log);
  return () => pushed.shutdown();
}
