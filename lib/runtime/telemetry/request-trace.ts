import type { Attributes } from "@opentelemetry/api";
import type { StoreObserver } from "../stores/observer.ts";
import { formatTraceparent, parseTraceparent, parseTracestate, type TraceParent } from "./trace-context.ts";

/**
 * The trace of one request. It continues a valid incoming W3C trace context, or starts a new trace (GW-84).
 * While export is off only the ids exist, and the methods do nothing.
 */
export interface RequestTrace {
  readonly trace_id: string;
  /** The id of this service's span, the parent of the calls that it makes. */
  readonly span_id: string;
  /** The header for calls to other services. */
  readonly traceparent: string;
  /** The caller's tracestate if its traceparent was valid, else null. */
  readonly tracestate: string | null;
  /** Whether the spans are recorded and exported. Callers skip the work for attributes of a trace that is not recorded. */
  readonly recorded: boolean;
  /** The X-Request-ID for each span of the trace, or null if there is none. */
  readonly request_id: string | null;
  describe(attributes: Attributes): void;
  /** Starts the span of a call for this request; returns null if nothing is recorded. */
  call(method: string, url: string): CallSpan | null;
  /** Ends the server span. Its name is `{method} {route}`, or `{method}` if no template matched. */
  end(result: { route: string | null; status: number | null; error_message?: string }): void;
}

/** The span of a call to another service, and the trace headers to send. */
export interface CallSpan {
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly request_id: string | null;
  answered(status: number): void;
  /**
   * @param error_type one of a few values; `cancelled` does not count as an error
   */
  failed(error_type: string, message?: string): void;
}

/** The traces of the requests that the current work serves, or undefined outside of any request. */
export type HeldTraces = readonly RequestTrace[] | undefined;

/** The traces of a service (OP-52, OP-53). */
export interface Tracing {
  /** True when spans are exported. Only then do logs have trace_id and span_id. */
  readonly enabled: boolean;
  start(
    method: string,
    traceparent: string | null,
    tracestate: string | null,
    request_id?: string | null,
  ): RequestTrace;
  /**
   * Runs `work` for a request: the calls and store operations of `work` become part of the trace. Use it only
   * for recorded traces, because each `await` inside costs a quarter more.
   */
  within<T>(trace: RequestTrace, work: () => T): T;
  /** Returns the traces of the current work, for work that runs later on behalf of several requests. */
  held(): HeldTraces;
  together<T>(held: readonly HeldTraces[], work: () => T): T;
  /** Starts the span of a call for the current requests; returns null while tracing is off. */
  call(method: string, url: string): CallSpan | null;
  /** Adds spans of store operations. */
  readonly observeStore: StoreObserver;
  /** Sends queued spans and stops. */
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

/** Returns the valid parts of the caller's trace headers. */
export function callerOf(traceparent: string | null, tracestate: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const state = parent === null || tracestate === null ? null : parseTracestate(tracestate);
  return { parent, state };
}
