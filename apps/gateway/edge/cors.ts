/** Answers to browsers of other origins (Gateway specification, Gateway request handling; contract 4, Headers). */
export interface CorsPolicy {
  /** Sets the CORS headers of a proxied response or an error. */
  describe(headers: Headers, origin: string | null): void;
  /** The headers of the answer to a preflight. */
  preflight(request: Headers): Headers;
}

const MAX_AGE_SECONDS = "86400";
const METHODS = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS";
const REQUEST_HEADERS_DEFAULT = "Authorization, Content-Type, X-API-Key";
const EXPOSED = "X-Request-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After";

/** @param allowed the origins that may call; empty: every origin */
export function createCorsPolicy(allowed: readonly string[]): CorsPolicy {
  const isAllowed = allowed.length === 0 ? allowEvery : allowListed(new Set(allowed));
  return {
    describe(headers, origin) {
      if (isAllowed(headers, origin)) headers.set("Access-Control-Expose-Headers", EXPOSED);
    },
    preflight(request) {
      const headers = new Headers({ "Access-Control-Max-Age": MAX_AGE_SECONDS });
      const origin = request.get("origin");
      if (isAllowed(headers, origin) || origin === null) {
        headers.set("Access-Control-Allow-Methods", METHODS);
        const requested = request.get("access-control-request-headers");
        headers.set("Access-Control-Allow-Headers", requested || REQUEST_HEADERS_DEFAULT);
      }
      return headers;
    },
  };
}

function allowEvery(headers: Headers): boolean {
  headers.set("Access-Control-Allow-Origin", "*");
  return true;
}

/** The answer depends on Origin, so caches must be told, whatever the answer is. */
function allowListed(allowed: ReadonlySet<string>): (headers: Headers, origin: string | null) => boolean {
  return (headers, origin) => {
    addVary(headers);
    if (origin === null || !allowed.has(origin)) return false;
    headers.set("Access-Control-Allow-Origin", origin);
    return true;
  };
}

function addVary(headers: Headers): void {
  const vary = headers.get("vary");
  const named = vary?.split(",").some((name) => /^\s*(?:origin|\*)\s*$/i.test(name)) ?? false;
  if (!named) headers.append("Vary", "Origin");
}
