import { displayPrefix } from "@ostiary/lib/domain/credentials";
import { ApiError, type ErrorKind, reasonOf } from "@ostiary/lib/domain/errors";
import { refusalFields } from "@ostiary/lib/runtime/http";
import type { Telemetry } from "@ostiary/lib/runtime/telemetry";
import type { Principal } from "../admission/principal.ts";
import type { Exchange } from "../exchange.ts";
import type { RouteMetrics } from "../route-metrics.ts";
import { ClientGone } from "../upstream/call.ts";

/** The status, never sent, that logs and metrics show if the client left before the response. */
const CLIENT_GONE_STATUS = 499;

const UNMATCHED = "unmatched";
const PREFLIGHT = "preflight";

/** Records each request in metrics, in its trace and, unless sampled out, in the log (OP-37). */
export class RequestLog {
  readonly #telemetry: Telemetry;
  readonly #metrics: RouteMetrics;

  constructor(telemetry: Telemetry, metrics: RouteMetrics) {
    this.#telemetry = telemetry;
    this.#metrics = metrics;
  }

  /**
   * Records a request when its response is complete or was cut off. Called once for each request.
   *
   * @param sentStatus the status that was sent, or null if the client left before the response
   * @param failure why the gateway refused the request or could not finish it
   * @param duration_ms the time since the request arrived
   */
  finish(exchange: Exchange, sentStatus: number | null, failure: Error | null, duration_ms: number): void {
    const { log, hasAccessLine } = this.#telemetry;
    const { method } = exchange.request;
    const matched = exchange.match?.route ?? null;
    const route = matched?.path ?? (method === "OPTIONS" ? PREFLIGHT : UNMATCHED);
    const status = sentStatus ?? CLIENT_GONE_STATUS;
    const trace_id = exchange.trace.recorded ? exchange.trace.trace_id : null;
    const requests =
      matched === null ? this.#metrics.requests.series(route, method) : this.#metrics.of(matched).requests;
    requests.observe(status, duration_ms, trace_id);
    const failed = failureOf(sentStatus, failure);
    exchange.trace.end({
      route: matched?.path ?? null,
      status: sentStatus,
      error_message: failed?.error_message,
    });
    if (!hasAccessLine(status)) return;
    if (failed === null && failure instanceof ApiError) {
      const path = matched === null && method !== "OPTIONS" ? { path: loggedPath(exchange.request.url) } : {};
      log.debug({ request_id: exchange.request_id, ...refusalFields(failure), ...path }, "request refused");
    }
    const line = this.#line(exchange, route, status, duration_ms);
    if (failed === null) log.info(line, "request completed");
    else log.error({ ...line, ...failed }, "request failed");
  }

  /** Returns the log line. Omits undefined fields, because each one costs the logger time. */
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

const PATH_LENGTH_MAX = 1_024;
/** The length from which a segment may be a key, a token or a JWT. All ids are shorter. */
const SECRET_LENGTH_MIN = 40;

/**
 * Returns the path of a URL for the log, without the query. Segments that may be credentials are left out (OP-42,
 * GW-218).
 */
function loggedPath(url: string): string {
  const path = URL.parse(url, "http://gateway")?.pathname ?? "";
  const shown = path.split("/").map((segment) => (segment.length < SECRET_LENGTH_MIN ? segment : "…"));
  return shown.join("/").slice(0, PATH_LENGTH_MAX);
}

/** Returns the display prefix of the request's API key or session, even if refused. */
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

interface Failure {
  readonly error_kind: ErrorKind;
  readonly error_message: string;
}

/**
 * Returns the failure of a request: a 5xx of the gateway or the service, or a response that was cut off.
 * Returns null for all other requests.
 */
function failureOf(sentStatus: number | null, failure: Error | null): Failure | null {
  if (sentStatus === null || failure instanceof ClientGone) return null;
  if (failure === null) {
    if (sentStatus < 500) return null;
    return { error_kind: "internal", error_message: `The service responded with ${sentStatus}.` };
  }
  if (failure instanceof ApiError && failure.status < 500) return null;
  const error_kind = failure instanceof ApiError ? failure.kind : "internal";
  return { error_kind, error_message: reasonOf(failure) };
}
