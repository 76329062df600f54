import { RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";

/** The CORS headers for browsers (GW-106 to GW-110). */
export interface CorsPolicy {
  /** The request headers that responses must name in `Vary`. The caller of {@link describe} sets `Vary`. */
  readonly vary: readonly string[];
  /** The CORS headers that are the same in every proxied response and every error. */
  readonly constant: Readonly<Record<string, string>>;
  /** Sets the CORS headers that depend on the origin. Called for every proxied response and every error. */
  describe(headers: Headers, origin: string | null): void;
  /** Returns the headers of the response to a preflight request. */
  preflight(request: Headers): Headers;
}

const MAX_AGE_SECONDS = "86400";
const METHODS = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS";
const REQUEST_HEADERS_DEFAULT = "Authorization, Content-Type, X-API-Key";
const EXPOSED = ["X-Request-ID", ...Object.values(RATE_LIMIT_HEADERS), "Retry-After"].join(", ");

/** @param allowed the origins whose pages may call the gateway; an empty list allows every origin */
export function createCorsPolicy(allowed: readonly string[]): CorsPolicy {
  return allowed.length === 0 ? allowEvery : allowListed(new Set(allowed));
}

const allowEvery: CorsPolicy = {
  vary: [],
  constant: { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED },
  describe() {},
  preflight: (request) => preflightOf(request, { "Access-Control-Allow-Origin": "*" }),
};

function allowListed(allowed: ReadonlySet<string>): CorsPolicy {
  const isListed = (origin: string | null) => origin !== null && allowed.has(origin);
  return {
    vary: ["Origin"],
    constant: {},
    describe(headers, origin) {
      if (origin === null || !isListed(origin)) return;
      headers.set("Access-Control-Allow-Origin", origin);
      headers.set("Access-Control-Expose-Headers", EXPOSED);
    },
    preflight(request) {
      const origin = request.get("origin");
      if (origin === null) return preflightOf(request, { Vary: "Origin" });
      if (isListed(origin))
        return preflightOf(request, { "Access-Control-Allow-Origin": origin, Vary: "Origin" });
      return new Headers({ "Access-Control-Max-Age": MAX_AGE_SECONDS, Vary: "Origin" });
    },
  };
}

function preflightOf(request: Headers, allow: Readonly<Record<string, string>>): Headers {
  return new Headers({
    ...allow,
    "Access-Control-Max-Age": MAX_AGE_SECONDS,
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": request.get("access-control-request-headers") || REQUEST_HEADERS_DEFAULT,
  });
}
