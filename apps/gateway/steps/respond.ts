import { type ApiError, envelope } from "@ostiary/lib/domain/errors";
import type { ClientConnections } from "../edge/connection.ts";
import type { CorsPolicy } from "../edge/cors.ts";
import type { Exchange } from "../exchange.ts";
import { stripResponseHeaders } from "../upstream/headers.ts";
import type { UpstreamAnswer } from "./forward.ts";
import type { RateState } from "./limit.ts";

/** Step 9: the response, with the headers that are the gateway's own (Gateway request handling). */
export class Responder {
  readonly #cors: CorsPolicy;
  readonly #connections: ClientConnections;

  constructor(cors: CorsPolicy, connections: ClientConnections) {
    this.#cors = cors;
    this.#connections = connections;
  }

  /** What the service answered, without audit headers and fields of the connection. */
  answer(exchange: Exchange, answer: UpstreamAnswer): Response {
    const { headers, status } = answer;
    stripResponseHeaders(headers);
    this.#describe(exchange, headers);
    if (exchange.request.method === "HEAD" && !headers.has("content-length")) keepLengthUnknown(headers);
    const { body } = answer;
    if (body instanceof Response) return body;
    const typed = !(body instanceof Uint8Array) || headers.has("content-type");
    return new Response(typed ? body : untyped(body), { status, headers });
  }

  /** The envelope of `error`. */
  refuse(exchange: Exchange, error: ApiError): Response {
    const headers = new Headers(error.headers);
    headers.set("Content-Type", "application/json");
    this.#describe(exchange, headers);
    const body = JSON.stringify(envelope(error, exchange.request_id));
    return new Response(body, { status: error.status, headers });
  }

  /** OPTIONS, on any path. */
  preflight(exchange: Exchange): Response {
    const headers = this.#cors.preflight(exchange.request.headers);
    setSecurityHeaders(headers);
    this.#connections.describe(headers);
    headers.set("X-Request-ID", exchange.request_id);
    return new Response(null, { status: 204, headers });
  }

  #describe(exchange: Exchange, headers: Headers): void {
    setSecurityHeaders(headers);
    this.#connections.describe(headers);
    this.#cors.describe(headers, exchange.origin);
    headers.set("X-Request-ID", exchange.request_id);
    if (exchange.rate !== null) setRateHeaders(headers, exchange.rate);
  }
}

function setSecurityHeaders(headers: Headers): void {
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "DENY");
  headers.set("Referrer-Policy", "strict-origin-when-cross-origin");
}

function setRateHeaders(headers: Headers, rate: RateState): void {
  headers.set("X-RateLimit-Limit", String(rate.limit));
  headers.set("X-RateLimit-Remaining", String(rate.remaining));
  headers.set("X-RateLimit-Reset", String(rate.reset));
}

/** Without this the runtime would answer HEAD with a length of 0, which the service did not say. */
function keepLengthUnknown(headers: Headers): void {
  headers.set("Transfer-Encoding", "chunked");
}

/** The same bytes in a form for which the runtime does not invent a Content-Type. */
function untyped(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
