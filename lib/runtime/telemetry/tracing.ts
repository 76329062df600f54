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
