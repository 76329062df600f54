import { reasonOf } from "@ostiary/lib/runtime/http";
import type { CallSpan } from "@ostiary/lib/runtime/telemetry";
import type { Exchange } from "../exchange.ts";
import { ClientGone } from "./call.ts";

/** The span of a call of a service, where the trace is recorded: the service is told of it in `headers`. */
export function beginSpan({ trace, request }: Exchange, headers: Headers, url: string): CallSpan | null {
  const span = trace.recorded ? trace.call(request.method, url) : null;
  if (span !== null) headers.set("traceparent", span.traceparent);
  return span;
}

/** Ends the span of a call that got no answer. */
export function failSpan(span: CallSpan | null, failure: unknown): void {
  if (span === null) return;
  if (failure instanceof ClientGone) span.failed("cancelled");
  else span.failed(failure instanceof Error ? failure.name : "_OTHER", reasonOf(failure));
}
