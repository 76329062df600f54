import type { Attributes } from "@opentelemetry/api";
import type { StoreObserver } from "../stores/observer.ts";
import { formatTraceparent, parseTraceparent, parseTracestate, type TraceParent } from "./trace-context.ts";

/**
 * The trace of one request. It continues a valid incoming W3C trace context, or starts a new trace (GW-84).
 * If export is turned off, the trace has only its ids, and its methods do nothing.
 */
export interface RequestTrace {
  readonly trace_id: string;
  /** The id of this service's server span. This span is the parent of the calls that the service makes. */
  readonly span_id: string;
  /** The `traceparent` header for calls to other services. */
  readonly traceparent: string;
  /** The caller's tracestate, or null if the tracestate or the traceparent is missing or invalid. */
  readonly tracestate: string | null;
  /** Whether the trace is recorded and exported. Callers compute attributes only for a recorded trace. */
  readonly recorded: boolean;
  /** The X-Request-ID, which each span of the trace gets as an attribute, or null if there is none. */
  readonly request_id: string | null;
  describe(attributes: Attributes): void;
  /** Starts the span of a call that this request makes. Returns null if the trace is not recorded. */
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
  /** @param errorType a name from a small set; `cancelled` does not count as an error */
  failed(errorType: string, message?: string): void;
}

/** The traces of the requests for which the current work runs, or undefined outside of a request. */
export type HeldTraces = readonly RequestTrace[] | undefined;

/** The tracing of a service (OP-52, OP-53). */
export interface Tracing {
  /** Whether spans are exported. Log lines contain `trace_id` and `span_id` only in this case. */
  readonly enabled: boolean;
  start(
    method: string,
    traceparent: string | null,
    tracestate: string | null,
    request_id?: string | null,
  ): RequestTrace;
  /**
   * Runs `work` for a request: calls and store operations in `work` become spans of its trace. Callers should
   * use this method only for recorded traces, because each `await` in `work` becomes a quarter more
   * expensive.
   */
  within<T>(trace: RequestTrace, work: () => T): T;
  /**
   * Returns the traces of the current work. Work that runs later for several requests passes them to
   * {@link together}.
   */
  held(): HeldTraces;
  together<T>(held: readonly HeldTraces[], work: () => T): T;
  /** Starts the span of a call that the current requests make. Returns null if tracing is turned off. */
  call(method: string, url: string): CallSpan | null;
  /** Adds spans for store operations to the traces of the current work. */
  readonly observeStore: StoreObserver;
  /** Exports the queued spans and stops. */
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
    call: () => null,
    end: doNothing,
  };
}

function doNothing(): void {}

/**
 * Returns the caller's span and tracestate from its trace headers. Each is null if it is missing or invalid.
 */
export function callerOf(traceparent: string | null, tracestate: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const state = parent === null || tracestate === null ? null : parseTracestate(tracestate);
  return { parent, state };
}
