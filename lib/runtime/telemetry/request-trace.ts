import type { Attributes } from "@opentelemetry/api";
import type { StoreObserver } from "../stores/observer.ts";
import { formatTraceparent, parseTraceparent, parseTracestate, type TraceParent } from "./trace-context.ts";

/**
 * The trace of one request: continues a valid incoming W3C trace context, else starts a new trace
 * (contract 4, Headers). The ids exist also while export is off; the rest then does nothing.
 */
export interface RequestTrace {
  readonly trace_id: string;
  /** The id of this service's span, the parent of what it calls. */
  readonly span_id: string;
  /** Ready to be sent on. */
  readonly traceparent: string;
  /** The caller's, when its traceparent was valid; else null. */
  readonly tracestate: string | null;
  /** Whether its spans are kept and sent. Nothing else need be told of a trace that is not. */
  readonly recorded: boolean;
  /** X-Request-ID, on each of its spans; null where there is none. */
  readonly request_id: string | null;
  describe(attributes: Attributes): void;
  /** Begins the span of a call that is made for this request; null where nothing is recorded. */
  call(method: string, url: string): CallSpan | null;
  /** Ends the server span, named `{method} {route}`, or `{method}` where no template matched. */
  end(result: { route: string | null; status: number | null; error_message?: string }): void;
}

/** A call of another service, and what it is to be sent of the trace. */
export interface CallSpan {
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly request_id: string | null;
  answered(status: number): void;
  /** @param error_type of few different values; `cancelled` is no error */
  failed(error_type: string, message?: string): void;
}

/** The requests that are worked for; undefined outside of any. */
export type HeldTraces = readonly RequestTrace[] | undefined;

/** What work for several requests at once needs of {@link Tracing}, to be part of the trace of each. */
export type SharedWorkTracing = Pick<Tracing, "held" | "together">;

/** Traces of a service (Gateway specification, Emitted signals). */
export interface Tracing {
  /** Whether spans are exported: only then do logs carry trace_id and span_id. */
  readonly enabled: boolean;
  start(
    method: string,
    traceparent: string | null,
    tracestate: string | null,
    request_id?: string | null,
  ): RequestTrace;
  /**
   * Runs `work` for a request: calls and store operations in it are part of its trace. For traces that are recorded:
   * whatever waits within costs a quarter more.
   */
  within<T>(trace: RequestTrace, work: () => T): T;
  /** What is worked for now, for work that is done later and for several at once. */
  held(): HeldTraces;
  together<T>(held: readonly HeldTraces[], work: () => T): T;
  /** Begins the span of a call for whatever is worked for; null while tracing is off. */
  call(method: string, url: string): CallSpan | null;
  /** Makes spans of store operations. */
  readonly observeStore: StoreObserver;
  /** Sends what is queued and stops. */
  shutdown(): Promise<void>;
}

export function unrecordedTrace(
  trace_id: string,
  span_id: string,
  sampled: boolean,
  parent: TraceParent | null,
  tracestate: string | null,
  request_id: string | null,
): RequestTrace {
  return {
    trace_id,
    span_id,
    traceparent: formatTraceparent(trace_id, span_id, sampled, parent?.random ?? false),
    tracestate,
    recorded: false,
    request_id,
    describe: doNothing,
    call: noCall,
    end: doNothing,
  };
}

function doNothing(): void {}

function noCall(): null {
  return null;
}

/** What the caller sent of its trace, as far as that is valid. */
export function callerOf(traceparent: string | null, tracestate: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const state = parent === null || tracestate === null ? null : parseTracestate(tracestate);
  return { parent, state };
}
