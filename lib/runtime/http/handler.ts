import type { AnyElysia } from "elysia";
import { systemClock } from "../../async/index.ts";
import { ApiError, envelope, overloaded, reasonOf } from "../../domain/errors/index.ts";
import { serverAttributes, type Telemetry } from "../telemetry/index.ts";
import { refusalFields } from "./http-errors.ts";
import { type HealthState, isProbe } from "./probes.ts";
import { type RequestContext, setContext } from "./request-context.ts";

interface HandlerOptions {
  telemetry: Telemetry;
  /** While the service drains, every response closes its connection, so the client goes to another replica. */
  health: HealthState;
  /** The registry sends the header; services behind the gateway must not (ID-8, RG-4). */
  requestIdOnResponse: boolean;
  /** Further requests get a 503 (`MAX_REQUESTS_IN_FLIGHT`). */
  requestsMax?: number;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Creates the request's context, runs the app, and logs and counts the result once. Probes are counted, but logged only
 * if they throw an error.
 */
export function createHandler(
  app: AnyElysia,
  { telemetry, health, requestIdOnResponse, requestsMax = Number.POSITIVE_INFINITY }: HandlerOptions,
): (request: Request) => Promise<Response> {
  let underway = 0;
  return async (received) => {
    const started = systemClock.elapsedMs();
    const request = withAddress(received);
    const context = openContext(request, telemetry);
    let response: Response;
    underway += 1;
    try {
      const refused =
        underway > requestsMax && !isProbe(pathOf(request))
          ? overloaded("MAX_REQUESTS_IN_FLIGHT is reached")
          : hostError(received);
      response = refused ? refusal(context, refused) : await handleTraced(app, request, context, telemetry);
    } finally {
      underway -= 1;
    }
    if (requestIdOnResponse) response.headers.set("X-Request-ID", context.request_id);
    // Responses can contain secrets or one caller's data.
    if (!response.headers.has("Cache-Control")) response.headers.set("Cache-Control", "no-store");
    if (health.draining) response.headers.set("Connection", "close");
    finish(request, context, response.status, systemClock.elapsedMs() - started, telemetry);
    return response;
  };
}

/**
 * Without a Host header, the runtime sets only the path. HTTP/1.0 does not require the header, and health checks of
 * load balancers can omit it.
 */
function withAddress(request: Request): Request {
  return request.url.startsWith("/") ? new Request(`http://localhost${request.url}`, request) : request;
}

/** Refuses a malformed Host header, whose URL the runtime does not parse, and repeated ones, which it joins. */
function hostError({ headers, url }: Request): ApiError | null {
  const host = headers.get("host");
  if (host === null || (!host.includes(",") && URL.canParse(url))) return null;
  return new ApiError("INVALID_REQUEST", { message: "The request must have one valid Host header." });
}

function refusal(context: RequestContext, error: ApiError): Response {
  context.error = error;
  const { status, headers } = error;
  return Response.json(envelope(error, context.request_id), { status, headers });
}

function pathOf(request: Request): string {
  return URL.parse(request.url)?.pathname ?? "";
}

/** Runs the app within the request's trace. Work for a probe, such as a database query, is not traced. */
async function handleTraced(
  app: AnyElysia,
  request: Request,
  { trace }: RequestContext,
  { tracing }: Telemetry,
): Promise<Response> {
  if (!trace?.recorded || isProbe(pathOf(request))) return app.handle(request);
  trace.describe(serverAttributes(request, null));
  return tracing.within(trace, () => app.handle(request));
}

function openContext(request: Request, { tracing }: Telemetry): RequestContext {
  const { headers, method } = request;
  const incoming = headers.get("x-request-id");
  const request_id = incoming !== null && REQUEST_ID.test(incoming) ? incoming : Bun.randomUUIDv7();
  const context: RequestContext = {
    request_id,
    trace: tracing.enabled
      ? tracing.start(method, headers.get("traceparent"), headers.get("tracestate"), request_id)
      : null,
    route: null,
    subject: {},
    error: null,
  };
  setContext(request, context);
  return context;
}

function finish(
  { method }: Request,
  { request_id, trace, route: matched, subject, error }: RequestContext,
  status: number,
  duration_ms: number,
  { log, metrics, hasAccessLine }: Telemetry,
): void {
  const route = matched ?? "unmatched";
  // The trace of a successful probe is never exported, so no exemplar may refer to it.
  const trace_id = trace?.recorded && !isProbe(route) ? trace.trace_id : null;
  metrics.requests.series(route, method).observe(status, duration_ms, trace_id);
  // The span of a successful probe is not ended, so it is never exported. A probe that throws an error is
  // logged like any other failed request.
  if (error === null && isProbe(route)) return;
  trace?.end({ route: matched, status, error_message: error?.message });
  if (!hasAccessLine(status)) return;
  const line = {
    route,
    method,
    status,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
    request_id,
    ...(trace && { trace_id: trace.trace_id, span_id: trace.span_id }),
    ...subject,
  };
  if (error !== null && status < 500) log.debug({ request_id, ...refusalFields(error) }, "request refused");
  if (error === null || status < 500) log.info(line, "request completed");
  else log.error({ ...line, error_kind: error.kind, error_message: reasonOf(error) }, "request failed");
}
