/**
 * A reference reader of HTTP responses. It is slow, because it applies regular expressions to the whole text.
 * It shares no code with the gateway's reader, so if the two readers disagree, one of them has a bug.
 */

interface ReferenceResponse {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
  /** The offset after the response, or null if the response ends when the connection closes. */
  readonly end: number | null;
  readonly persistent: boolean;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TEXT = "[\\t\\x20-\\x7e\\x80-\\xff]*";
const STATUS_LINE = new RegExp(`^HTTP/1\\.([01]) ([1-5][0-9][0-9])(?: ${TEXT})?\\r\\n`);
const FIELD_LINES = new RegExp(`^(?:${TOKEN}:${TEXT}\\r\\n)*$`);
const CHUNK_SIZE = new RegExp(`([0-9A-Fa-f]{1,16})(?:[ \\t]*;${TEXT})?\\r\\n`, "y");
const TRAILERS = new RegExp(`(?:${TOKEN}:${TEXT}\\r\\n)*\\r\\n`, "y");

interface Head {
  readonly status: number;
  readonly minor: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly end: number;
}

/** Returns the response at the start of `text`, or null if the response is malformed or incomplete. */
export function referenceRead(text: string, method: string): ReferenceResponse | null {
  let from = 0;
  let isSuspect = false;
  for (;;) {
    const head = readHead(text, from);
    if (head === null || !isFramed(head)) return null;
    if (head.status >= 200) {
      const response = withBody(text, method, head);
      return response && { ...response, persistent: response.persistent && !isSuspect };
    }
    if (head.status === 101) return null;
    if (valuesOf(head, "content-length").length > 0) isSuspect = true;
    from = head.end;
  }
}

function readHead(text: string, from: number): Head | null {
  const end = text.indexOf("\r\n\r\n", from);
  if (end < 0) return null;
  const head = text.slice(from, end + 2);
  const line = STATUS_LINE.exec(head);
  if (line === null) return null;
  const lines = head.slice(line[0].length);
  if (!FIELD_LINES.test(lines)) return null;
  const fields = lines
    .split("\r\n")
    .slice(0, -1)
    .map((each) => {
      const [, name = "", value = ""] = /^([^:]*):[\t ]*(.*?)[\t ]*$/s.exec(each) ?? [];
      return [name.toLowerCase(), value] as const;
    });
  return { status: Number(line[2]), minor: line[1] ?? "", fields, end: end + 4 };
}

function valuesOf({ fields }: Head, name: string): string[] {
  return fields.filter(([each]) => each === name).map(([, value]) => value);
}

function isFramed(head: Head): boolean {
  const codings = valuesOf(head, "transfer-encoding");
  const lengths = valuesOf(head, "content-length");
  if (lengths.some((each) => !/^[0-9]+$/.test(each) || Number(each) > Number.MAX_SAFE_INTEGER)) return false;
  if (new Set(lengths).size > 1) return false;
  const isBodiless = head.status < 200 || head.status === 204;
  if (isBodiless && (codings.length > 0 || Number(lengths[0] ?? 0) > 0)) return false;
  if (codings.length === 0) return true;
  return codings.join().toLowerCase() === "chunked" && lengths.length === 0 && head.minor === "1";
}

function withBody(text: string, method: string, head: Head): ReferenceResponse | null {
  const found = bodyOf(text, method, head);
  if (found === null) return null;
  const options = valuesOf(head, "connection").flatMap((each) => each.toLowerCase().split(/[\t ]*,[\t ]*/));
  const persistent =
    !options.includes("close") &&
    (head.minor === "1" || options.includes("keep-alive")) &&
    !isFollowed(method, head);
  const own = ["content-length", "transfer-encoding", "connection", "keep-alive", ...options];
  const fields = head.fields.filter(([name]) => !own.includes(name)).flat();
  return { status: head.status, fields, ...found, persistent };
}

/** Returns whether a response without a body announces one, which the service may send all the same. */
function isFollowed(method: string, head: Head): boolean {
  const [length] = valuesOf(head, "content-length");
  const isChunked = valuesOf(head, "transfer-encoding").length > 0;
  if (head.status === 204) return length !== undefined;
  if (head.status === 304) return isChunked || Number(length ?? 0) > 0;
  return method === "HEAD" && !(length !== undefined && Number(length) === 0);
}

function bodyOf(text: string, method: string, head: Head): { body: string; end: number | null } | null {
  if (method === "HEAD" || head.status === 204 || head.status === 304) return { body: "", end: head.end };
  if (valuesOf(head, "transfer-encoding").length > 0) return chunkedBody(text, head.end);
  const [length] = valuesOf(head, "content-length");
  if (length === undefined) return { body: text.slice(head.end), end: null };
  const end = head.end + Number(length);
  return end > text.length ? null : { body: text.slice(head.end, end), end };
}

function chunkedBody(text: string, from: number): { body: string; end: number } | null {
  let body = "";
  let at = from;
  for (;;) {
    CHUNK_SIZE.lastIndex = at;
    const line = CHUNK_SIZE.exec(text);
    const size = Number.parseInt(line?.[1] ?? "", 16);
    if (line === null || size > Number.MAX_SAFE_INTEGER) return null;
    at += line[0].length;
    if (size === 0) break;
    if (text.slice(at + size, at + size + 2) !== "\r\n") return null;
    body += text.slice(at, at + size);
    at += size + 2;
  }
  TRAILERS.lastIndex = at;
  const trailers = TRAILERS.exec(text);
  return trailers === null ? null : { body, end: at + trailers[0].length };
}
