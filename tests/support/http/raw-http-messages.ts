/** Functions that parse HTTP/1.1 messages from bytes, without a library. */

export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** Returns the values of a header in order of appearance. The case of the name does not matter. */
export function headerValues(headers: RawHeaders, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/**
 * Returns the value of a header, or null when there is none. Throws when the header occurs more than once.
 */
export function headerValue(headers: RawHeaders, name: string): string | null {
  const values = headerValues(headers, name);
  if (values.length > 1) throw new Error(`${name} occurs ${values.length} times: ${values.join(" | ")}`);
  return values[0] ?? null;
}

interface Message {
  /** The start line and the headers, as received. */
  readonly head: string;
  /** The start line: the request line or the status line. */
  readonly start: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

export interface RawResponse extends Message {
  readonly status: number;
  /** False when the connection closed before the end of the message. */
  readonly complete: boolean;
  /** The way in which the message marks the end of its body. */
  readonly framing: "none" | "length" | "chunked" | "close";
}

export interface RawRequest extends Message {
  readonly method: string;
  readonly target: string;
  /** The number of the connection on which the upstream received the request, counted from 1. */
  readonly connection: number;
}

export function hasBody({ headers }: RawRequest): boolean {
  const length = headerValue(headers, "content-length") ?? "0";
  return length !== "0" || headerValue(headers, "transfer-encoding") !== null;
}

interface Head {
  head: string;
  start: string;
  headers: RawHeaders;
  rest: Buffer;
}

export function readHead(bytes: Buffer): Head | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.subarray(0, end).toString("latin1");
  const [start = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { head, start, headers, rest: bytes.subarray(end + 4) };
}

export function readRequest(
  bytes: Buffer,
  connection: number,
  headOnly: boolean,
): { request: RawRequest; rest: Buffer } | null {
  const head = readHead(bytes);
  if (head === null) return null;
  const [method = "", target = ""] = head.start.split(" ");
  const taken = headOnly ? { body: Buffer.alloc(0), rest: head.rest } : takeBody(head, "none");
  if (taken === null) return null;
  const { start, headers } = head;
  return {
    request: { head: head.head, start, headers, body: taken.body, method, target, connection },
    rest: taken.rest,
  };
}

export function readResponse(
  bytes: Buffer,
  method: string,
  closed: boolean,
): { response: RawResponse; rest: Buffer } | null {
  const head = readHead(bytes);
  if (head === null) {
    if (!closed) return null;
    const nothing = { head: "", start: "", headers: [], body: bytes, framing: "none" as const };
    return { response: { ...nothing, status: 0, complete: false }, rest: Buffer.alloc(0) };
  }
  const status = Number(head.start.split(" ")[1]);
  if (status >= 100 && status < 200 && status !== 101) return readResponse(head.rest, method, closed);
  const framing = framingOf(head, method, status);
  const taken = takeBody(head, framing);
  const { start, headers } = head;
  const common = { head: head.head, start, headers, status, framing };
  if (taken !== null && framing !== "close") {
    return { response: { ...common, body: taken.body, complete: true }, rest: taken.rest };
  }
  if (!closed) return null;
  return { response: { ...common, body: head.rest, complete: framing === "close" }, rest: Buffer.alloc(0) };
}

export function framingOf(head: Head, method: string, status: number): RawResponse["framing"] {
  if (method === "HEAD" || status === 101 || status === 204 || status === 304) return "none";
  if (/chunked/i.test(headerValue(head.headers, "transfer-encoding") ?? "")) return "chunked";
  return headerValue(head.headers, "content-length") === null ? "close" : "length";
}

/**
 * Returns the decoded body of a message and the bytes after it. Returns null while the body is incomplete.
 */
function takeBody(head: Head, framing: RawResponse["framing"]): { body: Buffer; rest: Buffer } | null {
  const { headers, rest } = head;
  const isRequest = !head.start.startsWith("HTTP/");
  if (framing === "close") return { body: rest, rest: Buffer.alloc(0) };
  if (!isRequest && framing === "none") return { body: Buffer.alloc(0), rest };
  if (/chunked/i.test(headerValue(headers, "transfer-encoding") ?? "")) return takeChunks(rest);
  const length = Number(headerValue(headers, "content-length") ?? 0);
  if (rest.byteLength < length) return null;
  return { body: rest.subarray(0, length), rest: rest.subarray(length) };
}

function takeChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | null {
  const { body, end } = readChunks(bytes);
  return end === null ? null : { body, rest: bytes.subarray(end) };
}

/**
 * Returns the decoded complete chunks and the offset of their end. The offset is null until the last chunk
 * arrives.
 */
export function readChunks(bytes: Buffer): { body: Buffer; end: number | null } {
  const chunks: Buffer[] = [];
  const soFar = (end: number | null = null) => ({ body: Buffer.concat(chunks), end });
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return soFar();
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const start = lineEnd + 2;
    if (Number.isNaN(size))
      throw new Error(`Not a chunk size: ${bytes.subarray(at, lineEnd).toString("latin1")}`);
    if (bytes.byteLength < start + size + 2) return soFar();
    if (size === 0) {
      const end = bytes.indexOf("\r\n\r\n", lineEnd);
      return end < 0 ? soFar() : soFar(end + 4);
    }
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
