import type { TelemetryConfig } from "../config/index.ts";
import { observeNothing } from "../stores/observer.ts";
import type { Logger } from "./log.ts";
import { otlpUrl, type ServiceIdentity } from "./otlp-target.ts";
import { callerOf, type Tracing, unrecordedTrace } from "./request-trace.ts";
import { createTraceIds, type TraceIds } from "./trace-context.ts";

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
