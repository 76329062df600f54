import { reasonOf } from "@ostiary/lib/domain/errors";
import type { CallSpan } from "@ostiary/lib/runtime/telemetry";
import type { Exchange } from "../exchange.ts";
import { ClientGone } from "./call.ts";

/**
 * Starts the span of a call if the trace is recorded, else returns null. The service gets the span's
 * traceparent.
 */
export function beginSpan({ trace, request }: Exchange, origin: string, path: string): CallSpan | null {
  return trace.recorded ? trace.call(request.method, origin + path) : null;
}

/** Ends the span of a call that got no response. */
export function failSpan(span: CallSpan | null, failure: unknown): void {
  if (span === null) return;
  if (failure instanceof ClientGone) span.failed("cancelled");
  else span.failed(failure instanceof Error ? failure.name : "_OTHER", reasonOf(failure));
}
