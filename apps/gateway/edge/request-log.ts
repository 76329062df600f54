import { displayPrefix } from "@ostiary/lib/domain/credentials";
import { ApiError, type ErrorKind } from "@ostiary/lib/domain/errors";
import { reasonOf, refusalFields } from "@ostiary/lib/runtime/http";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { Principal } from "../admission/principal.ts";
import type { Exchange } from "../exchange.ts";
import { ClientGone } from "../upstream/call.ts";

/** What a client that left before its answer is logged and counted as: nobody was sent this. */
const CLIENT_GONE_STATUS = 499;

const UNMATCHED = "unmatched";
const PREFLIGHT = "preflight";

/** One line, one count and one span for each request (Gateway specification, Emitted signals; contract 4). */
export class RequestLog {
  readonly #telemetry: Telemetry;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /**
   * Called once for each request, when its last byte has gone out or no more will.
   *
   * @param answered the status that was sent; null when the client left before
   * @param failure why the gateway refused or could not finish
   */
  finish(exchange: Exchange, answered: number | null, failure: Error | null): void {
    const { log, metrics, hasAccessLine } = this.#telemetry;
    const { method } = exchange.request;
    const template = exchange.match?.route.path ?? null;
    const route = template ?? (method === "OPTIONS" ? PREFLIGHT : UNMATCHED);
    const status = answered ?? CLIENT_GONE_STATUS;
    const duration_ms = performance.now() - exchange.started;
    const trace_id = exchange.trace.recorded ? exchange.trace.trace_id : null;
    metrics.observeRequest({ route, method, status, duration_ms, trace_id });
    const fault = faultOf(answered, failure);
    exchange.trace.end({ route: template, status: answered, error_message: fault?.error_message });
    if (!hasAccessLine(status)) return;
    if (fault === null && failure instanceof ApiError) {
      log.debug({ request_id: exchange.request_id, ...refusalFields(failure) }, "request refused");
    }
    const line = this.#line(exchange, route, status, duration_ms);
    if (fault === null) log.info(line, "request completed");
    else log.error({ ...line, ...fault }, "request failed");
  }

  /** Fields that are not known are left out, not undefined: the log would look at each. */
  #line(exchange: Exchange, route: string, status: number, duration_ms: number): LogLine {
    const { request, principal, trace } = exchange;
    const line: LogLine = {
      route,
      method: request.method,
      status,
      duration_ms: Math.round(duration_ms * 1000) / 1000,
      request_id: exchange.request_id,
    };
    if (this.#telemetry.tracing.enabled) {
      line.trace_id = trace.trace_id;
      line.span_id = trace.span_id;
    }
    const key_prefix = principal === null ? presentedKeyPrefix(exchange) : principal.key_prefix;
    if (principal !== null) addPrincipal(line, principal);
    if (key_prefix !== null) line.key_prefix = key_prefix;
    return line;
  }
}

/** Of a key of known shape, valid or not. */
function presentedKeyPrefix({ credential }: Exchange): string | null {
  return credential === null ? null : displayPrefix(credential);
}

interface LogLine {
  route: string;
  method: string;
  status: number;
  duration_ms: number;
  request_id: string;
  trace_id?: string;
  span_id?: string;
  user_id?: string;
  organization_id?: string;
  member_id?: string;
  auth_type?: string;
  key_prefix?: string;
}

function addPrincipal(line: LogLine, principal: Principal): void {
  if (principal.user_id !== null) line.user_id = principal.user_id;
  if (principal.organization_id !== null) line.organization_id = principal.organization_id;
  if (principal.member_id !== null) line.member_id = principal.member_id;
  line.auth_type = principal.auth_type;
}

interface Fault {
  readonly error_kind: ErrorKind;
  readonly error_message: string;
}

/** What went wrong, where something did: a 5xx, the service's own too, or a response that was not finished. */
function faultOf(answered: number | null, failure: Error | null): Fault | null {
  if (answered === null || failure instanceof ClientGone) return null;
  if (failure === null) {
    if (answered < 500) return null;
    return { error_kind: "internal", error_message: `The service answered ${answered}.` };
  }
  if (failure instanceof ApiError && failure.status < 500) return null;
  const error_kind = failure instanceof ApiError ? failure.kind : "internal";
  return { error_kind, error_message: reasonOf(failure) };
}
