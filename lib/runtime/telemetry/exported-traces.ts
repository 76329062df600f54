import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
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
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { systemClock } from "../../async/index.ts";
import type { TelemetryConfig } from "../config/index.ts";
import type { StoreOperation } from "../stores/observer.ts";
import type { Logger } from "./log.ts";
import {
  EXPORT_TIMEOUT_MS,
  exporterOptions,
  reportingFailures,
  serviceResource,
  stopWithin,
} from "./otlp-export.ts";
import type { ServiceIdentity } from "./otlp-target.ts";
import {
  type CallSpan,
  callerOf,
  type HeldTraces,
  type RequestTrace,
  type Tracing,
  unrecordedTrace,
} from "./request-trace.ts";
import { clientAttributes, methodAttributes, storeAttributes } from "./span-attributes.ts";
import { formatTraceparent, type TraceIds, type TraceParent } from "./trace-context.ts";

/** The finished spans that wait for export. Further spans are dropped. */
const QUEUE_SPANS = 8_192;
const BATCH_SPANS = 1_024;
/** Clients choose the path and the user agent. */
const ATTRIBUTE_LENGTH_MAX = 1_024;

/** A trace that is not sampled costs only its ids and the sampling decision. */
export function exportedTraces(
  ids: TraceIds,
  service: ServiceIdentity,
  config: TelemetryConfig,
  url: string,
  log: Logger,
): Tracing {
  /** The trace id of the next span. It is set before, because the sampling decision depends on it. */
  let trace_id = "";
  const provider = new TracerProvider({
    resource: serviceResource(service, config),
    idGenerator: { generateTraceId: () => trace_id, generateSpanId: ids.newSpanId },
    // `isSampled` has already made the decision when a span is created.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH_MAX },
    spanProcessors: [batchProcessor(config, url, log)],
  });
  const tracer = provider.getTracer("ostiary");
  const isSampled = samplerOf(config);
  const active = new AsyncLocalStorage<readonly RequestTrace[]>();
  return {
    enabled: true,
    start(method, traceparent, tracestate, request_id = null) {
      const { parent, state } = callerOf(traceparent, tracestate);
      trace_id = parent?.trace_id ?? ids.newTraceId();
      if (isSampled(parent, trace_id)) return new RecordedTrace(tracer, method, parent, state, request_id);
      return unrecordedTrace(trace_id, ids.newSpanId(), false, parent, state, request_id);
    },
    within: (request, work) => active.run([request], work),
    held: () => active.getStore(),
    together: (held, work) =>
      active.run(
        held.flatMap((requests) => requests ?? []),
        work,
      ),
    call: (method, called) => callFor(active.getStore(), method, called) ?? unrecordedCall(ids),
    observeStore: (operation) => {
      for (const request of active.getStore() ?? []) {
        if (request instanceof RecordedTrace) request.addStoreOperation(operation);
      }
    },
    shutdown: () => stopWithin(provider.shutdown(), log),
  };
}

function batchProcessor(config: TelemetryConfig, url: string, log: Logger): BatchSpanProcessor {
  return new BatchSpanProcessor({
    exporter: reportingFailures(new OTLPTraceExporter(exporterOptions(config, url)), url, log),
    maxQueueSize: QUEUE_SPANS,
    maxExportBatchSize: BATCH_SPANS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS * 2,
  });
}

/** Starts a span in the trace of each request. The called service continues the trace of the first recorded one. */
function callFor(requests: HeldTraces, method: string, url: string): CallSpan | null {
  const spans = (requests ?? []).flatMap((request) => request.call(method, url) ?? []);
  const [first] = spans;
  if (first === undefined) return null;
  if (spans.length === 1) return first;
  const { traceparent, tracestate, request_id } = first;
  return {
    traceparent,
    tracestate,
    request_id,
    responded: (status) => spans.forEach((span) => void span.responded(status)),
    failed: (errorType, message) => spans.forEach((span) => void span.failed(errorType, message)),
  };
}

/** Marks a call that belongs to no request as not recorded; the called service would sample it otherwise. */
function unrecordedCall(ids: TraceIds): CallSpan {
  const traceparent = formatTraceparent(ids.newTraceId(), ids.newSpanId(), false);
  return { traceparent, tracestate: null, request_id: null, responded: () => {}, failed: () => {} };
}

class RecordedTrace implements RequestTrace {
  readonly trace_id: string;
  readonly span_id: string;
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly request_id: string | null;
  readonly recorded = true;
  readonly #tracer: Tracer;
  readonly #method: string;
  readonly #span: Span;
  readonly #context: Context;
  readonly #random: boolean;

  constructor(
    tracer: Tracer,
    method: string,
    parent: TraceParent | null,
    state: string | null,
    request_id: string | null,
  ) {
    this.#tracer = tracer;
    this.#method = method;
    this.request_id = request_id;
    const attributes = { ...methodAttributes(method), ...this.#ids() };
    this.#span = tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes },
      parent === null ? ROOT_CONTEXT : callerContext(parent, state),
    );
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
    const { traceId, spanId } = this.#span.spanContext();
    this.trace_id = traceId;
    this.span_id = spanId;
    this.#random = parent?.random ?? false;
    this.traceparent = formatTraceparent(traceId, spanId, true, this.#random);
    this.tracestate = state;
  }

  describe(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  call(method: string, url: string): CallSpan {
    const attributes = { ...clientAttributes(method, url), ...this.#ids() };
    const span = this.#tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, this.#context);
    const { traceId, spanId } = span.spanContext();
    return {
      traceparent: formatTraceparent(traceId, spanId, true, this.#random),
      tracestate: this.tracestate,
      request_id: this.request_id,
      responded(status) {
        describeStatus(span, status);
        span.end();
      },
      failed(errorType, message) {
        span.setAttribute("error.type", errorType);
        if (errorType !== CANCELLED) span.setStatus({ code: SpanStatusCode.ERROR, message });
        span.end();
      },
    };
  }

  addStoreOperation(operation: StoreOperation): void {
    const endedMs = systemClock.now();
    const attributes = { ...storeAttributes(operation), ...this.#ids() };
    const startTime = endedMs - operation.duration_ms;
    const name = `${operation.operation} ${operation.namespace}`;
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes, startTime },
      this.#context,
    );
    if (operation.failed) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endedMs);
  }

  /** The status is an error after a 5xx, or without a response. A 4xx is the client's error. */
  end({ route, status, error_message }: Parameters<RequestTrace["end"]>[0]): void {
    const span = this.#span;
    if (route !== null) {
      span.updateName(`${this.#method} ${route}`);
      span.setAttribute("http.route", route);
    }
    if (status !== null) describeStatus(span, status, error_message);
    else if (error_message !== undefined) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error_message });
    }
    span.end();
  }

  #ids(): Attributes {
    return this.request_id === null ? {} : { request_id: this.request_id };
  }
}

/** The error type of a call that was canceled because no caller waits for it anymore. */
const CANCELLED = "cancelled";

function describeStatus(span: Span, status: number, message?: string): void {
  span.setAttribute("http.response.status_code", status);
  if (status < 500) return;
  span.setAttribute("error.type", String(status));
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function callerContext(parent: TraceParent, state: string | null): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.trace_id,
    spanId: parent.parentId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    traceState: state === null ? undefined : createTraceState(state),
  });
}

/** Called before the first span of a request is created. */
type SampleDecision = (parent: TraceParent | null, trace_id: string) => boolean;

const PARENT_BASED = "parentbased_";

/** Returns the sampler that `OTEL_TRACES_SAMPLER` and its `_ARG` select, as defined by OpenTelemetry. */
function samplerOf(config: TelemetryConfig): SampleDecision {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG } = config;
  const parentBased = name.startsWith(PARENT_BASED);
  const sampler = rootSampler(parentBased ? name.slice(PARENT_BASED.length) : name, OTEL_TRACES_SAMPLER_ARG);
  const decide = (trace_id: string) =>
    sampler.shouldSample(ROOT_CONTEXT, trace_id, "", SpanKind.SERVER, {}, []).decision ===
    SamplingDecision.RECORD_AND_SAMPLED;
  return (parent, trace_id) => (parentBased && parent !== null ? parent.sampled : decide(trace_id));
}

function rootSampler(name: string, argument: string | undefined): Sampler {
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(Number(argument ?? 1));
  return new AlwaysOnSampler();
}
