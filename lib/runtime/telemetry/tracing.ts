import type { TelemetryConfig } from "../config/index.ts";
import { observeNothing } from "../stores/observer.ts";
import type { Logger } from "./log.ts";
import { otlpUrl, type ServiceIdentity } from "./otlp-target.ts";
import { callerOf, type Tracing, unrecordedTrace } from "./request-trace.ts";
import { createTraceIds, type TraceIds } from "./trace-context.ts";

/**
 * Creates the tracing of one service. If an export over OTLP (http/protobuf) is configured, traces are
 * exported; otherwise they are only continued. Several services can share a process, so each service has its
 * own tracer provider. OpenTelemetry's packages need 4 MiB of memory, so they are loaded only if traces are
 * exported.
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

/**
 * Creates tracing that records nothing. New traces are not sampled. The sampling decision of a caller is
 * passed on.
 */
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
