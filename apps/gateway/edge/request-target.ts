import { ApiError } from "@ostiary/lib/domain/errors";

/** The target of a request: the path after URL parsing, and the query with its `?`, or "". */
export interface RequestTarget {
  readonly path: string;
  readonly query: string;
}

const SCHEME = "http://";
const KNOWN_HOSTS_MAX = 1_000;

/**
 * Reads the target of requests (GW-6, GW-8). Throws a 400 for a request without a valid Host, because the
 * runtime does not parse the URL of such a request: dot segments would remain in the path.
 */
export class RequestTargets {
  /** Host values that were found valid. Nearly all requests use one of a few values. */
  readonly #sound = new Set<string>();

  /**
   * @throws ApiError 400 for a missing, repeated or malformed Host, a URL that does not parse, or a repeated
   * Content-Length
   */
  read(request: Request): RequestTarget {
    const host = request.headers.get("host");
    const { url } = request;
    if (host === null || !this.#isSound(host) || !url.startsWith(SCHEME)) {
      throw badRequest("The request must have one valid Host header and a valid URL.");
    }
    // The runtime joins equal repeated lengths with a comma.
    if (request.headers.get("content-length")?.includes(","))
      throw badRequest("The request can have only one Content-Length header.");
    const pathStart = url.indexOf("/", SCHEME.length);
    const fragment = url.indexOf("#", pathStart);
    const end = fragment < 0 ? url.length : fragment;
    const question = url.indexOf("?", pathStart);
    const pathEnd = question < 0 || question > end ? end : question;
    return { path: url.slice(pathStart, pathEnd), query: url.slice(pathEnd, end) };
  }

  #isSound(host: string): boolean {
    if (this.#sound.has(host)) return true;
    if (host === "" || host.includes(",") || !URL.canParse(`${SCHEME}${host}/`)) return false;
    if (this.#sound.size >= KNOWN_HOSTS_MAX) this.#sound.clear();
    this.#sound.add(host);
    return true;
  }
}

function badRequest(message: string): ApiError {
  return new ApiError("INVALID_REQUEST", { message });
}
