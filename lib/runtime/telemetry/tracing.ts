import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { TelemetryConfig } from "../config/index.ts";
import type { Logger } from "./log.ts";
import {
  EXPORT_TIMEOUT_MS,
  otlpUrl,
  reportingFailures,
  type ServiceIdentity,
  serviceResource,
  stopWithin,
} from "./otlp-export.ts";
import {
  createTraceIds,
  formatTraceparent,
  parseTraceparent,
  parseTracestate,
  type TraceIds,
  type TraceParent,
} from "./trace-context.ts";

/**
 * The trace of one request: continues a valid incoming W3C trace context, else starts a new trace
 * (contract 4, Headers). The ids exist also while export is off; `end` then does nothing.
 */
export interface RequestTrace {
  readonly trace_id: string;
  /** The id of this service's span, the parent of what it calls. */
  readonly span_id: string;
  /** Ready to be sent on. */
  readonly traceparent: string;
  /** The caller's, when its traceparent was valid; else null. */
  readonly tracestate: string | null;
  /** Ends the server span, named `{method} {route}`, or `{method}` where no template matched. */
  end(result: { route: string | null; status: number | null; error_message?: string }): void;
}

/** Traces of a service (Gateway specification, Emitted signals). */
export interface Tracing {
  /** Whether spans are exported: only then do logs carry trace_id and span_id. */
  readonly enabled: boolean;
  start(method: string, traceparent: string | null, tracestate: string | null): RequestTrace;
  /** Sends what is queued and stops. */
  shutdown(): Promise<void>;
}

/** Finished spans that wait for the collector; more are dropped. */
const QUEUE_SPANS = 8_192;
const BATCH_SPANS = 1_024;

/**
 * Traces of one service, sent over OTLP (http/protobuf) where the configuration says so, else only continued.
 * The provider is this service's own, never the process-wide one: several services may share a process.
 */
export function createTracing(service: ServiceIdentity, config: TelemetryConfig, log: Logger): Tracing {
  const ids = createTraceIds((bytes) => crypto.getRandomValues(bytes));
  const url = otlpUrl(config, "traces");
  return url === null ? continuedTraces(ids) : exportedTraces(ids, service, url, log);
}

/** A trace begun here is not sampled, since nobody records it; a caller's decision passes unchanged. */
function continuedTraces(ids: TraceIds): Tracing {
  return {
    enabled: false,
    start(_method, traceparent, tracestate) {
      const { parent, state } = callerOf(traceparent, tracestate);
      const trace_id = parent === null ? ids.traceId() : parent.trace_id;
      const span_id = ids.spanId();
      return {
        trace_id,
        span_id,
        traceparent: formatTraceparent(trace_id, span_id, parent?.sampled ?? false),
        tracestate: state,
        end: doNothing,
      };
    },
    shutdown: async () => {},
  };
}

function doNothing(): void {}

function exportedTraces(ids: TraceIds, service: ServiceIdentity, url: string, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: serviceResource(service),
    idGenerator: { generateTraceId: ids.traceId, generateSpanId: ids.spanId },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportingFailures(exporter, url, log),
        maxQueueSize: QUEUE_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS * 2,
      }),
    ],
  });
  const tracer = provider.getTracer("ostiary");
  return {
    enabled: true,
    start: (method, traceparent, tracestate) => startSpan(tracer, method, traceparent, tracestate),
    shutdown: () => stopWithin(provider.shutdown(), log),
  };
}

/** The provider's default sampler records new traces, and a caller's when the caller's flag says so. */
function startSpan(
  tracer: Tracer,
  method: string,
  traceparent: string | null,
  tracestate: string | null,
): RequestTrace {
  const { parent, state } = callerOf(traceparent, tracestate);
  const span = tracer.startSpan(
    method,
    { kind: SpanKind.SERVER, attributes: { "http.request.method": method } },
    parent === null ? ROOT_CONTEXT : callerContext(parent, state),
  );
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    trace_id: traceId,
    span_id: spanId,
    traceparent: formatTraceparent(traceId, spanId, (traceFlags & TraceFlags.SAMPLED) !== 0),
    tracestate: state,
    end: (result) => endSpan(span, method, result),
  };
}

/** What the caller sent of its trace, as far as that is valid. */
function callerOf(traceparent: string | null, tracestate: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const state = parent === null || tracestate === null ? null : parseTracestate(tracestate);
  return { parent, state };
}

function callerContext(parent: TraceParent, state: string | null): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.trace_id,
    spanId: parent.parent_id,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    traceState: state === null ? undefined : createTraceState(state),
  });
}

/** The status is an error on 5xx, or when no response was made because of one; a 4xx is the client's. */
function endSpan(span: Span, method: string, result: Parameters<RequestTrace["end"]>[0]): void {
  const { route, status, error_message } = result;
  if (route !== null) {
    span.updateName(`${method} ${route}`);
    span.setAttribute("http.route", route);
  }
  if (status !== null) span.setAttribute("http.response.status_code", status);
  if (status === null ? error_message !== undefined : status >= 500) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error_message });
  }
  span.end();
}
