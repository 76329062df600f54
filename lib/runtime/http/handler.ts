import type { AnyElysia } from "elysia";
import type { Telemetry } from "../telemetry/index.ts";
import { reasonOf } from "./errors.ts";
import { isProbe } from "./probes.ts";
import { type RequestContext, setContext } from "./request-context.ts";

export interface HandlerOptions {
  telemetry: Telemetry;
  /** Whether responses carry X-Request-ID: the registry's do; behind the gateway they must not (contract 2). */
  request_id_on_response: boolean;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The function that answers a service's port: gives the request its context, runs the app, then logs and counts
 * the result once; probes are counted only.
 */
export function createHandler(
  app: AnyElysia,
  { telemetry, request_id_on_response }: HandlerOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const started = performance.now();
    const context = openContext(request, telemetry);
    const response: Response = await app.handle(request);
    if (request_id_on_response) response.headers.set("X-Request-ID", context.request_id);
    finish(request, context, response.status, performance.now() - started, telemetry);
    return response;
  };
}

function openContext(request: Request, { tracing }: Telemetry): RequestContext {
  const { headers, method } = request;
  const incoming = headers.get("x-request-id");
  const context: RequestContext = {
    request_id: incoming !== null && REQUEST_ID.test(incoming) ? incoming : Bun.randomUUIDv7(),
    trace: tracing.enabled
      ? tracing.start(method, headers.get("traceparent"), headers.get("tracestate"))
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
  { log, metrics }: Telemetry,
): void {
  const route = matched ?? "unmatched";
  metrics.observeRequest({ route, method, status, duration_ms });
  // its span is never ended, so never sent; what a probe breaks on is told like any other failure
  if (error === null && isProbe(route)) return;
  trace?.end({ route: matched, status, error_message: error?.message });
  const line = {
    route,
    method,
    status,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
    request_id,
    ...(trace && { trace_id: trace.trace_id, span_id: trace.span_id }),
    ...subject,
  };
  if (error === null || status < 500) log.info(line, "request completed");
  else log.error({ ...line, error_kind: error.kind, error_message: reasonOf(error) }, "request failed");
}
