import type { Attributes } from "@opentelemetry/api";
import type { StoreObserver } from "../stores/observer.ts";
import { formatTraceparent, parseTraceparent, parseTracestate, type TraceParent } from "./trace-context.ts";

/** Continues a valid incoming trace, or starts a new one (GW-84). Without export, the trace has only its ids. */
export interface RequestTrace {
  readonly trace_id: string;
  /** The id of the server span, the parent of the calls that the service makes. */
  readonly span_id: string;
  readonly traceparent: string;
  /** The caller's tracestate, or null if it or the traceparent is missing or invalid. */
  readonly tracestate: string | null;
  /** Whether the trace is recorded and exported. Callers compute attributes only for a recorded trace. */
  readonly recorded: boolean;
  /** Each span of the trace gets the X-Request-ID as an attribute. */
  readonly request_id: string | null;
  describe(attributes: Attributes): void;
  call(method: string, url: string): CallSpan | null;
  /** Ends the server span. Its name is `{method} {route}`, or `{method}` if no template matched. */
  end(result: { route: string | null; status: number | null; error_message?: string }): void;
}

export interface CallSpan {
  readonly traceparent: string;
  readonly tracestate: string | null;
  readonly request_id: string | null;
  responded(status: number): void;
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
   * Calls and store operations in `work` become spans of the trace. Each `await` in `work` becomes a quarter more
   * expensive, so callers use this method only for recorded traces.
   */
  within<T>(trace: RequestTrace, work: () => T): T;
  /** Returns the traces of the current work, for {@link together}. */
  held(): HeldTraces;
  together<T>(held: readonly HeldTraces[], work: () => T): T;
  call(method: string, url: string): CallSpan | null;
  readonly observeStore: StoreObserver;
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

/** Returns the caller's span and tracestate. Each is null if it is missing or invalid. */
export function callerOf(traceparent: string | null, tracestate: string | null) {
  const parent = traceparent === null ? null : parseTraceparent(traceparent);
  const state = parent === null || tracestate === null ? null : parseTracestate(tracestate);
  return { parent, state };
}
