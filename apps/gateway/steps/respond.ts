import { AUDIT_HEADERS } from "@ostiary/lib/contracts/audit";
import { type ApiError, envelope } from "@ostiary/lib/domain/errors";
import type { ClientConnections } from "../edge/client-connections.ts";
import type { CorsPolicy } from "../edge/cors.ts";
import type { Exchange } from "../exchange.ts";
import { setRateHeaders } from "../limits/limit-headers.ts";
import { fieldValue } from "../upstream/upstream-client.ts";
import type { RelayedResponse } from "./forward.ts";
import { setSecurityHeaders } from "./security-headers.ts";

const CREDENTIAL_HEADERS = ["Authorization", "X-API-Key"];
const AUDIT_FIELDS: ReadonlySet<string> = new Set(AUDIT_HEADERS);

interface Defaults {
  readonly headers: Headers;
  /** The request headers on which each response depends. */
  readonly varied: readonly string[];
}

/** Step 9: builds the response with the gateway's own headers (GW-94 to GW-105). */
export class Responder {
  readonly #cors: CorsPolicy;
  readonly #connections: ClientConnections;
  readonly #ofPublic: Defaults;
  readonly #ofPrivate: Defaults;

  constructor(cors: CorsPolicy, connections: ClientConnections) {
    this.#cors = cors;
    this.#connections = connections;
    this.#ofPublic = defaultsWith(cors, cors.vary);
    this.#ofPrivate = defaultsWith(cors, [...cors.vary, ...CREDENTIAL_HEADERS]);
    // Prevent caches from sending one caller's response to another caller (GW-104).
    this.#ofPrivate.headers.set("Cache-Control", "no-store");
  }

  respond(exchange: Exchange, { status, fields, announced, body }: RelayedResponse): Response {
    const defaults = this.#defaultsOf(exchange);
    const isTyped = !(body instanceof Uint8Array) || fieldValue(fields, "content-type") !== null;
    // `Response` copies the headers, so later changes leave the defaults as they are.
    const response = new Response(isTyped ? body : untyped(body), { status, headers: defaults.headers });
    const { headers } = response;
    addFields(headers, fields, defaults.varied);
    this.#describe(exchange, headers);
    if (announced !== null) headers.set("Content-Length", String(announced));
    // The runtime would add `Content-Length: 0`, which the service did not send.
    else if (exchange.request.method === "HEAD") headers.set("Transfer-Encoding", "chunked");
    return response;
  }

  refuse(exchange: Exchange, error: ApiError): Response {
    const headers = new Headers(this.#defaultsOf(exchange).headers);
    headers.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
    this.#describe(exchange, headers);
    const body = JSON.stringify(envelope(error, exchange.request_id));
    return new Response(body, { status: error.status, headers });
  }

  preflight(exchange: Exchange): Response {
    const headers = this.#cors.preflight(exchange.request.headers);
    setSecurityHeaders(headers);
    this.#connections.describe(headers);
    headers.set("X-Request-ID", exchange.request_id);
    return new Response(null, { status: 204, headers });
  }

  #defaultsOf({ match }: Exchange): Defaults {
    return match === null || match.route.scope === "public" ? this.#ofPublic : this.#ofPrivate;
  }

  #describe(exchange: Exchange, headers: Headers): void {
    this.#connections.describe(headers);
    this.#cors.describe(headers, exchange.origin);
    headers.set("X-Request-ID", exchange.request_id);
    if (exchange.rate !== null) setRateHeaders(headers, exchange.rate);
  }
}

function addFields(headers: Headers, fields: readonly string[], varied: readonly string[]): void {
  let cacheControl: string | null = null;
  let vary: string | null = null;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? "";
    const value = fields[index + 1] ?? "";
    if (name === "cache-control") cacheControl = joined(cacheControl, value);
    else if (name === "vary") vary = joined(vary, value);
    else if (!AUDIT_FIELDS.has(name)) headers.append(name, value);
  }
  if (cacheControl !== null) headers.set("Cache-Control", cacheControl);
  if (vary !== null) headers.set("Vary", varied.length === 0 ? vary : mergedVary(vary, varied));
}

/** Returns a service's `Vary` with the missing names added. A `*` already covers every name. */
function mergedVary(vary: string, names: readonly string[]): string {
  const known = new Set(vary.split(",").map((name) => name.trim().toLowerCase()));
  if (known.has("*")) return vary;
  return [vary, ...names.filter((name) => !known.has(name.toLowerCase()))].join(", ");
}

function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`;
}

function defaultsWith(cors: CorsPolicy, varied: readonly string[]): Defaults {
  const headers = new Headers(cors.constant);
  setSecurityHeaders(headers);
  if (varied.length > 0) headers.set("Vary", varied.join(", "));
  return { headers, varied };
}

/** Returns the bytes as a stream, because the runtime adds no Content-Type to a streamed response. */
function untyped(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
