import { ApiError } from "@ostiary/lib/errors";
import type { Telemetry } from "@ostiary/lib/telemetry";
import type { Exchange } from "./exchange.ts";

/** What a client that left before its answer is logged as: nobody was sent this. */
export const CLIENT_GONE_STATUS = 499;

const UNMATCHED = "unmatched";
const PREFLIGHT = "preflight";

/** One line, one count and one span for each request (Gateway specification, Emitted signals; contract 4). */
export class RequestLog {
  readonly #telemetry: Telemetry;
  readonly #presentedKeyPrefix: (request: Request) => string | null;

  /** @param presentedKeyPrefix the display prefix of a key of known shape, valid or not */
  constructor(telemetry: Telemetry, presentedKeyPrefix: (request: Request) => string | null) {
    this.#telemetry = telemetry;
    this.#presentedKeyPrefix = presentedKeyPrefix;
  }

  /** Called once for each request, when its last byte has gone out or no more will. */
  finish(exchange: Exchange, status: number, failure: Error | null): void {
    const { log, metrics, tracing } = this.#telemetry;
    const { method } = exchange.request;
    const template = exchange.match?.route.path ?? null;
    const route = template ?? (method === "OPTIONS" ? PREFLIGHT : UNMATCHED);
    const duration_ms = performance.now() - exchange.started;
    metrics.httpRequests.inc({ route, method, status });
    metrics.httpDuration.observe({ route, method }, duration_ms / 1000);
    const gone = status === CLIENT_GONE_STATUS;
    exchange.trace.end({
      route: template,
      status: gone ? null : status,
      error_message: gone ? undefined : failure?.message,
    });
    const line = {
      route,
      method,
      status,
      duration_ms: Math.round(duration_ms * 1000) / 1000,
      request_id: exchange.request_id,
      trace_id: tracing.enabled ? exchange.trace.trace_id : undefined,
      span_id: tracing.enabled ? exchange.trace.span_id : undefined,
      user_id: exchange.principal?.user_id ?? undefined,
      organization_id: exchange.principal?.organization_id ?? undefined,
      member_id: exchange.principal?.member_id ?? undefined,
      auth_type: exchange.principal?.auth_type,
      key_prefix: this.#presentedKeyPrefix(exchange.request) ?? undefined,
    };
    if (failure === null || gone || (status < 500 && isRefusal(failure))) log.info(line, "request completed");
    else
      log.error({ ...line, error_kind: kindOf(failure), error_message: reasonOf(failure) }, "request failed");
  }
}

/** An answer that is the client's to mend. */
function isRefusal(failure: Error): boolean {
  return failure instanceof ApiError && failure.status < 500;
}

function kindOf(failure: Error) {
  return failure instanceof ApiError ? failure.kind : "internal";
}

/** The innermost cause: it names the fault. */
function reasonOf(failure: Error): string {
  let innermost: unknown = failure;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}
