import { ApiError } from "@ostiary/lib/domain/errors";

/** What a request asks for: the path as URL parsing leaves it, and the query with its `?`, or "". */
export interface RequestTarget {
  readonly path: string;
  readonly query: string;
}

const KNOWN_HOSTS_MAX = 1_000;

/**
 * Reads the target of requests (contract 4, Matching). The runtime has parsed the URL by the WHATWG rules only
 * where the Host header is sound; where it is not, the target would come through unparsed, dot segments and all.
 * So Host is checked first, and everything else is 400.
 */
export class RequestTargets {
  /** Hosts that were found sound: nearly every request repeats one of a few. */
  readonly #sound = new Set<string>();
  /** What every URL of this port begins with. */
  readonly #scheme: "http://" | "https://";

  constructor(is_tls: boolean) {
    this.#scheme = is_tls ? "https://" : "http://";
  }

  /** @throws ApiError 400 for a missing, repeated or malformed Host, a URL that does not parse, two lengths */
  read(request: Request): RequestTarget {
    const host = request.headers.get("host");
    const { url } = request;
    if (host === null || !this.#isSound(host) || !url.startsWith(this.#scheme)) {
      throw badRequest("The request must carry one valid Host header and a valid URL.");
    }
    const length = request.headers.get("content-length");
    if (length !== null && !isLength(length)) throw badRequest("Content-Length must be given once.");
    const pathStart = url.indexOf("/", this.#scheme.length);
    const fragment = url.indexOf("#", pathStart);
    const end = fragment < 0 ? url.length : fragment;
    const question = url.indexOf("?", pathStart);
    const pathEnd = question < 0 || question > end ? end : question;
    return { path: url.slice(pathStart, pathEnd), query: url.slice(pathEnd, end) };
  }

  #isSound(host: string): boolean {
    if (this.#sound.has(host)) return true;
    if (host === "" || host.includes(",") || !URL.canParse(`${this.#scheme}${host}/`)) return false;
    if (this.#sound.size >= KNOWN_HOSTS_MAX) this.#sound.clear();
    this.#sound.add(host);
    return true;
  }
}

/** The runtime lets equal lengths pass and joins them by a comma. */
function isLength(value: string): boolean {
  return !value.includes(",");
}

function badRequest(message: string): ApiError {
  return new ApiError("INVALID_REQUEST", { message });
}
