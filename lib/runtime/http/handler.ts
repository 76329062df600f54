import type { AnyElysia } from "elysia";
import { ApiError, envelope } from "../../domain/errors/index.ts";
import { serverAttributes, type Telemetry } from "../telemetry/index.ts";
import { reasonOf, refusalFields } from "./errors.ts";
import { type HealthState, isProbe } from "./probes.ts";
import { type RequestContext, setContext } from "./request-context.ts";

export interface HandlerOptions {
  telemetry: Telemetry;
  /** While the service drains every answer ends its connection, so that its client comes back to another replica. */
  health: HealthState;
  /** Whether responses carry X-Request-ID: the registry's do; behind the gateway they must not (contract 2). */
  request_id_on_response: boolean;
  /** Requests under way at once (`MAX_REQUESTS_IN_FLIGHT`): those beyond are 503. No limit without it. */
  requests_max?: number;
}

const RETRY_AFTER_SECONDS = "1";
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The function that answers a service's port: gives the request its context, runs the app, then logs and counts
 * the result once; probes are counted only.
 */
export function createHandler(
  app: AnyElysia,
  { telemetry, health, request_id_on_response, requests_max = Number.POSITIVE_INFINITY }: HandlerOptions,
): (request: Request) => Promise<Response> {
  let underway = 0;
  return async (received) => {
    const started = performance.now();
    const request = withAddress(received);
    const context = openContext(request, telemetry);
    let response: Response;
    underway += 1;
    try {
      const fault = underway > requests_max && !isProbe(pathOf(request)) ? tooMany() : faultOfHost(received);
      response = fault ? refusal(context, fault) : await answerTraced(app, request, context, telemetry);
    } finally {
      underway -= 1;
    }
    if (request_id_on_response) response.headers.set("X-Request-ID", context.request_id);
    if (health.draining) response.headers.set("Connection", "close");
    finish(request, context, response.status, performance.now() - started, telemetry);
    return response;
  };
}

/**
 * The request with a URL. Without a Host, which HTTP/1.0 does not ask for and probes of balancers leave out, the
 * runtime gives the path alone.
 */
function withAddress(request: Request): Request {
  return hasNoAddress(request) ? new Request(`http://localhost${request.url}`, request) : request;
}

/** A Host that is none is no address either. */
function faultOfHost(request: Request): ApiError | null {
  if (!hasNoAddress(request) || !request.headers.has("host")) return null;
  return new ApiError("INVALID_REQUEST", { message: "The Host header is malformed." });
}

function hasNoAddress({ url }: Request): boolean {
  return url.startsWith("/");
}

/** For one request too many: there is no room to find out what it asks for. */
function tooMany(): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", {
    headers: { "Retry-After": RETRY_AFTER_SECONDS, Connection: "close" },
    cause: new Error("MAX_REQUESTS_IN_FLIGHT are under way"),
  });
}

function refusal(context: RequestContext, error: ApiError): Response {
  context.error = error;
  const { status, headers } = error;
  return Response.json(envelope(error, context.request_id), { status, headers });
}

function pathOf(request: Request): string {
  return URL.parse(request.url)?.pathname ?? "";
}

/** What is done for a probe, such as a look into the database, is part of no trace. */
async function answerTraced(
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
  // the trace of a probe is not sent, so nothing may name it
  const trace_id = trace?.recorded && !isProbe(route) ? trace.trace_id : null;
  metrics.observeRequest({ route, method, status, duration_ms, trace_id });
  // its span is never ended, so never sent; what a probe breaks on is told like any other failure
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
