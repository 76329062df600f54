import { RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";

const METHODS = "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS";
const REQUEST_HEADERS_DEFAULT = "Authorization, Content-Type, X-API-Key";
const EXPOSED = ["X-Request-ID", ...Object.values(RATE_LIMIT_HEADERS), "Retry-After"].join(", ");

const OPEN = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED };

/** The CORS headers for browsers (GW-106 to GW-110). */
export class CorsPolicy {
  readonly #allowed: ReadonlySet<string> | null;
  /** The CORS headers that are the same in every proxied response and every error. */
  readonly constant: Readonly<Record<string, string>>;
  /** The request headers that responses must name in `Vary`. The caller of {@link describe} sets `Vary`. */
  readonly vary: readonly string[];

  /** @param allowed the origins whose pages may call the gateway; an empty list allows every origin */
  constructor(allowed: readonly string[]) {
    const isOpen = allowed.length === 0;
    this.#allowed = isOpen ? null : new Set(allowed);
    this.constant = isOpen ? OPEN : {};
    this.vary = isOpen ? [] : ["Origin"];
  }

  /** Sets the CORS headers that depend on the origin. Called for every proxied response and every error. */
  describe(headers: Headers, origin: string | null): void {
    if (origin === null || !this.#allowed?.has(origin)) return;
    headers.set("Access-Control-Allow-Origin", origin);
    headers.set("Access-Control-Expose-Headers", EXPOSED);
  }

  /** Returns the headers of the response to a preflight request. */
  preflight(request: Headers): Headers {
    const headers = new Headers({ "Access-Control-Max-Age": "86400" });
    const origin = this.#allowed === null ? "*" : request.get("origin");
    if (this.#allowed !== null) headers.set("Vary", "Origin");
    if (origin !== null && this.#allowed?.has(origin) === false) return headers;
    if (origin !== null) headers.set("Access-Control-Allow-Origin", origin);
    headers.set("Access-Control-Allow-Methods", METHODS);
    const requested = request.get("access-control-request-headers") || REQUEST_HEADERS_DEFAULT;
    headers.set("Access-Control-Allow-Headers", requested);
    return headers;
  }
}
