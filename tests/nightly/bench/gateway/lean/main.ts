/**
 * The lean gateway, a baseline for the real one. It does the work of each request: it matches the route,
 * validates the key, and checks limit and labels. It rewrites path and headers, and writes a log line and
 * counters. It gives none of the guarantees: it has no timeouts, accepts no request bodies, and does not
 * limit its resources. It does not notice clients that disconnect, and does not check responses of services.
 */

import { LABEL, LIMIT } from "../catalog.ts";
import { Callers, Counts, type LeanRoute, routesAt, type Window } from "./job.ts";
import { Journal } from "./journal.ts";

const [port = "0", client = "own", origins = "", redisUrl = "", validateUrl = ""] = process.argv.slice(2);

/** The request headers that are not forwarded to the service. */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect"],
  ...["host", "content-length", "authorization", "x-api-key", "x-request-id", "traceparent", "tracestate"],
]);
/** The response headers that are not forwarded to the client. */
const NOT_ANSWERED: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["content-length", "x-platform-audit-details", "access-control-allow-origin"],
]);
const ADDED: readonly (readonly [string, string])[] = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "strict-origin-when-cross-origin"],
  ["Access-Control-Allow-Origin", "*"],
];
const RANDOM_BYTES = 8_192;
const TRACE_BYTES = 24;

const routes = routesAt(origins.split(","), NOT_ANSWERED);
const callers = new Callers(validateUrl);
const counts = await Counts.connect(redisUrl);
const journal = new Journal();
const call = client === "own" ? callByConnection : callByFetch;
const random = Buffer.alloc(RANDOM_BYTES);
let randomUsed = RANDOM_BYTES;

Bun.serve({ hostname: "127.0.0.1", port: Number(port), idleTimeout: 0, fetch: handle });

/** A request that is forwarded to its service. */
interface Forwarded {
  readonly request: Request;
  readonly route: LeanRoute;
  /** The path to request from the service. */
  readonly target: string;
  readonly request_id: string;
  /** The caller's rate limit window; null for a route without a limit. */
  readonly window: Window | null;
  readonly startedMs: number;
}

function handle(request: Request): Response | Promise<Response> {
  const startedMs = performance.now();
  const { url } = request;
  const path = url.slice(url.indexOf("/", "http://".length));
  const route = routes.get(path.slice(0, path.lastIndexOf("/")));
  if (route === undefined) return new Response(null, { status: 404 });
  const request_id = Bun.randomUUIDv7();
  if (!route.isPublic) return admit(request, route, path, request_id, startedMs);
  return call({ request, route, target: path, request_id, window: null, startedMs });
}

async function admit(
  request: Request,
  route: LeanRoute,
  path: string,
  request_id: string,
  startedMs: number,
): Promise<Response> {
  const held = callers.holderOf(request.headers.get("x-api-key") ?? "");
  const caller = held instanceof Promise ? await held : held;
  if (caller === null) return new Response(null, { status: 401 });
  const { organization_id, labels } = caller;
  const window = await counts.increment(`lean ${request.method} ${route.template} ${organization_id}`);
  if (window.count > LIMIT.requests) return new Response(null, { status: 429 });
  if (!labels.includes(LABEL)) return new Response(null, { status: 403 });
  const target = `/organizations/${organization_id}${path.slice("/org".length)}`;
  return call({ request, route, target, request_id, window, startedMs });
}

/** Calls the service over a pooled connection, without `Headers` objects for the upstream call. */
async function callByConnection(forwarded: Forwarded): Promise<Response> {
  const { request, route, target, request_id, window, startedMs } = forwarded;
  let head = `${request.method} ${target} HTTP/1.1\r\nhost: ${route.origin.slice("http://".length)}\r\n`;
  request.headers.forEach((value, name) => {
    if (!NOT_SENT.has(name)) head += `${name}: ${value}\r\n`;
  });
  head += `x-request-id: ${request_id}\r\ntraceparent: ${nextTrace()}\r\n\r\n`;
  const { status, headers, body } = await route.connections.send(head);
  for (const [name, value] of ADDED) headers.push([name, value]);
  headers.push(["X-Request-ID", request_id]);
  if (window !== null) headers.push(...limitHeaders(window));
  journal.finish(route.template, request.method, status, request_id, startedMs);
  return new Response(body, { status, headers });
}

/** Calls the service with `fetch`, and edits the headers of the request and the response in place. */
async function callByFetch(forwarded: Forwarded): Promise<Response> {
  const { request, route, target, request_id, window, startedMs } = forwarded;
  const { headers } = request;
  for (const name of ["host", "connection", "x-api-key"]) headers.delete(name);
  headers.set("x-request-id", request_id);
  headers.set("traceparent", nextTrace());
  const { signal } = new AbortController();
  const response = await fetch(route.origin + target, {
    method: request.method,
    headers,
    redirect: "manual",
    decompress: false,
    signal,
    timeout: false,
  });
  const dropped: string[] = [];
  response.headers.forEach((_, name) => {
    if (NOT_ANSWERED.has(name) && name !== "content-length") dropped.push(name);
  });
  for (const name of dropped) response.headers.delete(name);
  for (const [name, value] of ADDED) response.headers.set(name, value);
  response.headers.set("X-Request-ID", request_id);
  if (window !== null) for (const [name, value] of limitHeaders(window)) response.headers.set(name, value);
  journal.finish(route.template, request.method, response.status, request_id, startedMs);
  return response;
}

function limitHeaders({ count, leftMs }: Window): [string, string][] {
  return [
    ["X-RateLimit-Limit", String(LIMIT.requests)],
    ["X-RateLimit-Remaining", String(LIMIT.requests - count)],
    ["X-RateLimit-Reset", String(Math.ceil((journal.nowMs + leftMs) / 1_000))],
  ];
}

/** Returns a new random `traceparent`. Generates random bytes in blocks, which is cheaper. */
function nextTrace(): string {
  if (randomUsed + TRACE_BYTES > RANDOM_BYTES) {
    crypto.getRandomValues(random);
    randomUsed = 0;
  }
  const text = random.toString("hex", randomUsed, randomUsed + TRACE_BYTES);
  randomUsed += TRACE_BYTES;
  return `00-${text.slice(0, 32)}-${text.slice(32)}-00`;
}
