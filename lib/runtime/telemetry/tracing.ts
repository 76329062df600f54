import type { TelemetryConfig } from "../config/index.ts";
import { observeNothing } from "../stores/observer.ts";
import type { Logger } from "./log.ts";
import { otlpUrl, type ServiceIdentity } from "./otlp-target.ts";
import { callerOf, type Tracing, unrecordedTrace } from "./request-trace.ts";
import { createTraceIds, type TraceIds } from "./trace-context.ts";

/**
 * Traces of one service, sent over OTLP (http/protobuf) where the configuration says so, else only continued.
 * The provider is this service's own, never the process-wide one: several services may share a process.
 * OpenTelemetry's packages are loaded where they are used: they take 4 MiB.
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

/** A trace begun here is not sampled, since nobody records it; a caller's decision passes unchanged. */
function continuedTraces(ids: TraceIds): Tracing {
  return {
    enabled: false,
    start(_method, traceparent, tracestate, request_id = null) {
      const { parent, state } = callerOf(traceparent, tracestate);
      const trace_id = parent === null ? ids.traceId() : parent.trace_id;
      return unrecordedTrace(trace_id, ids.spanId(), parent?.sampled ?? false, parent, state, request_id);
    },
    within: (_trace, work) => work(),
    held: () => undefined,
    together: (_held, work) => work(),
    call: () => null,
    observeStore: observeNothing,
    shutdown: async () => {},
  };
}
