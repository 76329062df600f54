import { AUDIT_HEADERS } from "@ostiary/lib/contracts/audit";
import type { Exchange } from "../exchange.ts";

/**
 * Which headers cross the gateway (Gateway specification, Gateway request handling; contract 4, Headers). What
 * is not named here passes unchanged in both directions.
 */

/** Fields of one connection, never of the message that crosses two. `Proxy-*` is told by its prefix. */
const HOP_BY_HOP = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
const PROXY_PREFIX = "proxy-";
const FORWARDED_PREFIX = "x-forwarded-";
/** What services are told of the client's address, where they are told. */
const FORWARDED_SET: ReadonlySet<string> = new Set([
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
]);

const REQUEST_DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...AUDIT_HEADERS,
  // credentials
  "authorization",
  "x-api-key",
  // set anew, by the gateway or by the runtime
  "x-request-id",
  "traceparent",
  "tracestate",
  "host",
  "content-length",
  // the runtime has answered it
  "expect",
]);

const RESPONSE_DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...AUDIT_HEADERS,
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-allow-private-network",
  "access-control-expose-headers",
  "access-control-max-age",
]);

const KNOWN_NAMES_MAX = 1_000;
const NOTHING: [string, string][] = [];

export interface UpstreamHeaderOptions {
  /** What clients speak to this gateway. */
  readonly scheme: "http" | "https";
  /** Whether `Forwarded` and `X-Forwarded-*` of the request come from a trusted proxy and may pass. */
  readonly trust_forwarded: boolean;
  /** Whether services are told the client's address. */
  readonly forward_client_address: boolean;
}

/** What a service is sent. */
export class UpstreamHeaders {
  readonly #options: UpstreamHeaderOptions;
  /** Whether headers of a name are removed: nearly every request has those of the ones before it. */
  readonly #removed = new Map<string, boolean>();

  constructor(options: UpstreamHeaderOptions) {
    this.#options = options;
  }

  /**
   * Makes the headers of a request those of the upstream call, in place, since a copy costs as much again: the
   * client's without credentials, fields of the connection and whatever `Connection` names, then those that the
   * gateway sets, which no client can touch.
   */
  prepare(headers: Headers, exchange: Exchange): void {
    const { trace } = exchange;
    const forwarded = this.#options.forward_client_address ? this.#forwarded(headers, exchange) : null;
    const connection = headers.get("connection");
    const te = headers.get("te");
    // not while they are listed: the list would change meanwhile
    const removed: string[] = [];
    headers.forEach((_, name) => {
      if (this.#isRemoved(name)) removed.push(name);
    });
    for (const name of removed) headers.delete(name);
    dropNamed(headers, connection);
    if (acceptsTrailers(te)) headers.set("te", "trailers");
    // without one the runtime would name itself
    if (!headers.has("user-agent")) headers.set("user-agent", "");
    headers.set("x-request-id", exchange.request_id);
    headers.set("traceparent", trace.traceparent);
    if (trace.tracestate !== null) headers.set("tracestate", trace.tracestate);
    for (const [name, value] of forwarded ?? NOTHING) headers.set(name, value);
  }

  /** `X-Forwarded-*` behind this gateway: appended to what a trusted proxy said, else new. */
  #forwarded(headers: Headers, { socket_address }: Exchange): [name: string, value: string][] {
    const said = (name: string) => (this.#options.trust_forwarded ? headers.get(name) : null);
    const before = said("x-forwarded-for");
    return [
      ["x-forwarded-for", before === null ? socket_address : `${before}, ${socket_address}`],
      ["x-forwarded-proto", said("x-forwarded-proto") ?? this.#options.scheme],
      ["x-forwarded-host", said("x-forwarded-host") ?? headers.get("host") ?? ""],
    ];
  }

  #isRemoved(name: string): boolean {
    const known = this.#removed.get(name);
    if (known !== undefined) return known;
    const removed = this.#isGuarded(name) || this.#isTwin(name);
    if (this.#removed.size >= KNOWN_NAMES_MAX) this.#removed.clear();
    this.#removed.set(name, removed);
    return removed;
  }

  #isGuarded(name: string): boolean {
    if (REQUEST_DROPPED.has(name) || name.startsWith(PROXY_PREFIX)) return true;
    return !this.#options.trust_forwarded && isForwarded(name);
  }

  /** Whether a service that reads `_` as `-`, as CGI and its heirs do, would take `name` for a guarded one. */
  #isTwin(name: string): boolean {
    if (!name.includes("_")) return false;
    const read = name.replaceAll("_", "-");
    return this.#isGuarded(read) || (this.#options.forward_client_address && FORWARDED_SET.has(read));
  }
}

function isForwarded(name: string): boolean {
  return name.startsWith(FORWARDED_PREFIX) || name === "forwarded";
}

/** Removes from a service's response what must not reach the client, in place. */
export function stripResponseHeaders(headers: Headers): void {
  const connection = headers.get("connection");
  const dropped: string[] = [];
  headers.forEach((_, name) => {
    if (RESPONSE_DROPPED.has(name) || name.startsWith(PROXY_PREFIX)) dropped.push(name);
  });
  for (const name of dropped) headers.delete(name);
  dropNamed(headers, connection);
}

/** Removes the fields that a Connection header names; its framing is the runtime's and stays. */
function dropNamed(headers: Headers, connection: string | null): void {
  if (connection === null || connection === "keep-alive" || connection === "close") return;
  for (const token of connection.split(",")) {
    const name = token.trim().toLowerCase();
    if (FIELD_NAME.test(name) && name !== "content-length") headers.delete(name);
  }
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

function acceptsTrailers(te: string | null): boolean {
  return te?.split(",").some((token) => token.trim().toLowerCase() === "trailers") ?? false;
}
