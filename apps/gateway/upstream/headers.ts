import { AUDIT_HEADERS } from "@ostiary/lib/contracts/audit";
import type { Exchange } from "../exchange.ts";

// The headers that the gateway does not forward (GW-82, GW-85, GW-87). All other headers pass both ways.

/** The hop-by-hop fields whose names do not begin with `Proxy`. */
const HOP_BY_HOP = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
/** The field that CGI programs would read as the variable HTTP_PROXY. */
const PROXY = "proxy";
const PROXY_PREFIX = "proxy-";
const FORWARDED_PREFIX = "x-forwarded-";
/**
 * The fields in which the gateway sends the client's address to services if FORWARD_CLIENT_ADDRESS is set.
 */
const FORWARDED_SET: ReadonlySet<string> = new Set([
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
]);

const REQUEST_DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...AUDIT_HEADERS,
  // a client's claims about its address, which some services believe
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  // credentials
  "authorization",
  "x-api-key",
  // set by the gateway or the runtime
  "x-request-id",
  "traceparent",
  "tracestate",
  "host",
  "content-length",
  // handled by the runtime
  "expect",
]);

const RESPONSE_DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  // the gateway sets these for all services
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-allow-private-network",
  "access-control-expose-headers",
  "access-control-max-age",
  "x-content-type-options",
  "x-frame-options",
  "referrer-policy",
  "x-request-id",
]);

/** Returns whether the gateway forwards a response field. The name must be in lower case. */
export function keepsResponseField(name: string): boolean {
  return !RESPONSE_DROPPED.has(name) && !isProxyField(name);
}

function isProxyField(name: string): boolean {
  return name === PROXY || name.startsWith(PROXY_PREFIX);
}

const KNOWN_NAMES_MAX = 1_000;

interface UpstreamHeaderOptions {
  /** Whether `Forwarded` and `X-Forwarded-*` of requests come from a trusted proxy and are forwarded. */
  readonly trustForwarded: boolean;
  readonly forwardClientAddress: boolean;
}

export class UpstreamHeaders {
  readonly #options: UpstreamHeaderOptions;
  /**
   * For each header name, whether the header is removed from requests. Cached, because requests repeat the
   * same names.
   */
  readonly #removed = new Map<string, boolean>();

  constructor(options: UpstreamHeaderOptions) {
    this.#options = options;
  }

  /**
   * Returns the fields of the upstream call: each name is followed by its value. Removes the client's
   * credentials, hop-by-hop fields and fields named in `Connection`. Adds the gateway's own fields.
   *
   * @param traceparent the traceparent of the call's span, or of the request if its trace is not recorded
   */
  of(exchange: Exchange, traceparent: string): string[] {
    const { request, trace } = exchange;
    const { headers } = request;
    let fields: string[] = [];
    headers.forEach((value, name) => {
      if (!this.#isRemoved(name)) fields.push(name, value);
    });
    const connection = headers.get("connection");
    if (connection !== null) fields = withoutNamed(fields, connection);
    if (acceptsTrailers(headers.get("te"))) fields.push("te", "trailers", "connection", "TE");
    fields.push("x-request-id", exchange.request_id, "traceparent", traceparent);
    if (trace.tracestate !== null) fields.push("tracestate", trace.tracestate);
    if (this.#options.forwardClientAddress) this.#addForwarded(fields, exchange);
    return fields;
  }

  /** Adds `X-Forwarded-*`. Keeps the values of a trusted proxy, and appends the peer's address. */
  #addForwarded(fields: string[], { request, socketAddress }: Exchange): void {
    const trusted = (name: string) => (this.#options.trustForwarded ? request.headers.get(name) : null);
    const before = trusted("x-forwarded-for");
    fields.push(
      "x-forwarded-for",
      before === null ? socketAddress : `${before}, ${socketAddress}`,
      "x-forwarded-proto",
      trusted("x-forwarded-proto") ?? "http",
      "x-forwarded-host",
      trusted("x-forwarded-host") ?? request.headers.get("host") ?? "",
    );
  }

  #isRemoved(name: string): boolean {
    const known = this.#removed.get(name);
    if (known !== undefined) return known;
    const removed = this.#isGuarded(name) || this.#isUnderscoreSpelling(name);
    if (this.#removed.size >= KNOWN_NAMES_MAX) this.#removed.clear();
    this.#removed.set(name, removed);
    return removed;
  }

  #isGuarded(name: string): boolean {
    if (REQUEST_DROPPED.has(name) || isProxyField(name)) return true;
    if (this.#options.forwardClientAddress && FORWARDED_SET.has(name)) return true;
    return !this.#options.trustForwarded && isForwarded(name);
  }

  /**
   * Returns whether a service that does not distinguish `_` and `-` would read `name` as a header that the
   * gateway removes. CGI, for example, turns `-` into `_`. A trusted proxy replaces a client's `X-Forwarded-For`,
   * but not its `X_Forwarded_For`.
   */
  #isUnderscoreSpelling(name: string): boolean {
    if (!name.includes("_")) return false;
    const dashed = name.replaceAll("_", "-");
    return this.#isGuarded(dashed) || isForwarded(dashed);
  }
}

function isForwarded(name: string): boolean {
  return name.startsWith(FORWARDED_PREFIX) || name === "forwarded";
}

function withoutNamed(fields: string[], connection: string): string[] {
  if (connection === "keep-alive" || connection === "close") return fields;
  const named = new Set(connection.split(",").map((token) => token.trim().toLowerCase()));
  return fields.filter((_, index) => {
    const name = fields[index - (index % 2)] ?? "";
    return !named.has(name) && !(name.includes("_") && named.has(name.replaceAll("_", "-")));
  });
}

function acceptsTrailers(te: string | null): boolean {
  return te?.split(",").some((token) => token.trim().toLowerCase() === "trailers") ?? false;
}
