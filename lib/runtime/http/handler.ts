import type { AnyElysia } from "elysia";
import { ApiError, envelope } from "../../domain/errors/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { template, toApiError } from "./app.ts";
import { isProbe } from "./internal.ts";
import { contextOf, type RequestContext, setContext } from "./request-context.ts";

export interface HandlerOptions {
  telemetry: Telemetry;
  /** Whether responses carry X-Request-ID: the registry's do; behind the gateway they must not (contract 2). */
  request_id_on_response: boolean;
  /** Runs before anything else, unknown paths included; throws to refuse. */
  guard?: (request: Request) => void;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The function that answers a service's port: gives the request its context, runs the app, turns what was
 * thrown into the envelope, then logs and counts the result once; probes are counted only.
 */
export function createHandler(
  app: AnyElysia,
  options: HandlerOptions,
): (request: Request) => Promise<Response> {
  const allowed = methodsByPath(app);
  return async (request) => {
    const started = performance.now();
    const context = openContext(request, options);
    const { response, error } = await respond(app, request, options, allowed);
    if (options.request_id_on_response) response.headers.set("X-Request-ID", context.request_id);
    finish(request, context, response.status, error, performance.now() - started, options.telemetry);
    return response;
  };
}

function openContext(request: Request, { telemetry }: HandlerOptions): RequestContext {
  const incoming = request.headers.get("x-request-id");
  const { headers } = request;
  const context: RequestContext = {
    request_id: incoming !== null && REQUEST_ID.test(incoming) ? incoming : Bun.randomUUIDv7(),
    trace: telemetry.tracing.enabled
      ? telemetry.tracing.start(request.method, headers.get("traceparent"), headers.get("tracestate"))
      : null,
    route: null,
    subject: {},
  };
  setContext(request, context);
  return context;
}

async function respond(
  app: AnyElysia,
  request: Request,
  options: HandlerOptions,
  allowed: AllowedMethods,
): Promise<{ response: Response; error: ApiError | null }> {
  try {
    options.guard?.(request);
    const response: Response = await app.handle(request);
    return { response, error: null };
  } catch (thrown) {
    const error = orMethodNotAllowed(toApiError(thrown), request, allowed);
    return { response: errorResponse(error, contextOf(request).request_id), error };
  }
}

/** The envelope as a response. */
export function errorResponse(error: ApiError, requestId: string): Response {
  return Response.json(envelope(error, requestId), { status: error.status, headers: error.headers });
}

function finish(
  request: Request,
  context: RequestContext,
  status: number,
  error: ApiError | null,
  duration_ms: number,
  { log, metrics }: Telemetry,
): void {
  const route = context.route ?? "unmatched";
  metrics.observeRequest({ route, method: request.method, status, duration_ms });
  // its span is never ended, so never sent; what a probe breaks on is told like any other failure
  if (error === null && isProbe(route)) return;
  context.trace?.end({ route: context.route, status, error_message: error?.message });
  const line = {
    route,
    method: request.method,
    status,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
    request_id: context.request_id,
    ...(context.trace && { trace_id: context.trace.trace_id, span_id: context.trace.span_id }),
    ...context.subject,
  };
  if (error === null || status < 500) log.info(line, "request completed");
  else log.error({ ...line, error_kind: error.kind, error_message: reasonOf(error) }, "request failed");
}

/** Why it failed, for the log: the innermost cause, which names the fault and carries no secret of ours. */
export function reasonOf(error: unknown): string {
  let innermost: unknown = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message : String(innermost);
}

/** Path templates split into segments, each with its methods. */
type AllowedMethods = { segments: string[]; methods: string[] }[];

function methodsByPath(app: AnyElysia): AllowedMethods {
  const byPath = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    const methods = byPath.get(path) ?? new Set();
    byPath.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  return [...byPath].map(([path, methods]) => ({
    segments: template(path).split("/"),
    methods: [...methods].sort(),
  }));
}

/** A 404 for a path that exists under other methods is a 405 (contract 2). */
function orMethodNotAllowed(error: ApiError, request: Request, allowed: AllowedMethods): ApiError {
  if (error.status !== 404 || contextOf(request).route !== null) return error;
  const segments = new URL(request.url).pathname.split("/");
  const methods = allowed
    .filter((entry) => matches(entry.segments, segments))
    .flatMap((entry) => entry.methods);
  if (methods.length === 0 || methods.includes(request.method)) return error;
  return new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: [...new Set(methods)].join(", ") } });
}

function matches(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith("{") ? segments[index] !== "" : part === segments[index]))
  );
}
