import type { TelemetryConfig } from "../config/index.ts";
import { observeNothing, type StoreObserver } from "../stores/observer.ts";
import { collectedCounter } from "./collected-metrics.ts";
import { type AccessSample, accessSample, createLog, type Logger } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { otlpUrl, type ServiceIdentity } from "./otlp-target.ts";
import { callerOf, type Tracing, unrecordedTrace } from "./request-trace.ts";
import { createTraceIds, type TraceIds } from "./trace-context.ts";

export interface Telemetry {
  readonly log: Logger;
  /** Decides whether a request gets a log line (`LOG_ACCESS_SAMPLE`). Called once for each request. */
  readonly hasAccessLine: AccessSample;
  switchLogLevel(): void;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** Undefined unless traces are exported. */
  readonly exportedTracing: Tracing | undefined;
  readonly observeStore: StoreObserver;
  /** Exports and writes everything that is queued, as the last step before the process exits. */
  close(): Promise<void>;
}

export async function createTelemetry(service: ServiceIdentity, config: TelemetryConfig): Promise<Telemetry> {
  const sink = createLog({
    service: service.name,
    level: config.LOG_LEVEL,
    file: config.LOG_FILE,
  });
  const { log } = sink;
  const metrics = createMetrics();
  collectedCounter(metrics.registry, {
    name: "log_lines_dropped_total",
    help: "Log lines that the process dropped, because the reader of the log was too slow.",
    read: () => sink.dropped,
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
      ? (operation) => {
          metrics.observeStore(operation);
          tracing.observeStore(operation);
        }
      : metrics.observeStore,
    async close() {
      metrics.stop();
      await Promise.allSettled([tracing.shutdown(), stopPush()]);
      await sink.flush();
    },
  };
}

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

/**
 * Traces are exported over OTLP if this is configured, and otherwise only continued. Several services can share a
 * process, so each has its own provider. OpenTelemetry's packages need 4 MiB, so they are loaded only for an export.
 */
export async function createTracing(
  service: ServiceIdentity,
  config: TelemetryConfig,
  log: Logger,
): Promise<Tracing> {
  const ids = createTraceIds((bytes) => crypto.getRandomValues(bytes));
  const url = otlpUrl(config, "traces");
  if (url === null) return continuedTraces(ids);
  const { exportedTraces } = await import("./exported-traces.ts");
  return exportedTraces(ids, service, config, url, log);
}

/** Records nothing. New traces are not sampled, and a caller's decision is passed on. */
function continuedTraces(ids: TraceIds): Tracing {
  return {
    enabled: false,
    start(_method, traceparent, tracestate, request_id = null) {
      const { parent, state } = callerOf(traceparent, tracestate);
      const trace_id = parent === null ? ids.newTraceId() : parent.trace_id;
      return unrecordedTrace(trace_id, ids.newSpanId(), parent?.sampled ?? false, parent, state, request_id);
    },
    within: (_trace, work) => work(),
    held: () => undefined,
    together: (_held, work) => work(),
    call: () => null,
    observeStore: observeNothing,
    shutdown: async () => {},
  };
}
