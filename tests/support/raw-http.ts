/**
 * HTTP/1.1 as bytes on both sides of a server under test. The client can send what no library would. The
 * upstream records what reached it, and can answer what no server would.
 */

export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** Returns the values of a header, in order of appearance. Names compare without case. */
export function headerValues(headers: RawHeaders, name: string): string[] {
  return headers.filter(([key]) => key.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** Returns the one value of a header, or null when it is absent. Throws when it occurs twice. */
export function headerValue(headers: RawHeaders, name: string): string | null {
  const values = headerValues(headers, name);
  if (values.length > 1) throw new Error(`${name} occurs ${values.length} times: ${values.join(" | ")}`);
  return values[0] ?? null;
}

interface Message {
  /** Everything up to the empty line, as received. */
  readonly head: string;
  /** The first line. */
  readonly start: string;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

export interface RawResponse extends Message {
  readonly status: number;
  /** False when the connection ended before the message. */
  readonly complete: boolean;
  /** How the message marks the end of its body. */
  readonly framing: "none" | "length" | "chunked" | "close";
}

export interface RawRequest extends Message {
  readonly method: string;
  readonly target: string;
  /** The number of the upstream's connection that carried the request, counted from 1. */
  readonly connection: number;
}

/** One connection of either side. `received` keeps the bytes, unless `keep` is off. */
export class RawSocket {
  received: Buffer = Buffer.alloc(0);
  received_bytes = 0;
  /** Whether received bytes are kept; otherwise they are only counted. */
  keep = true;
  closed = false;
  /** Bytes that could not be sent yet. */
  #unsent: Uint8Array = new Uint8Array();
  #socket: Bun.Socket<RawSocket> | null = null;
  readonly #wakers: (() => void)[] = [];
  onData: () => void = () => {};
  onClose: () => void = () => {};
  onDrain: () => void = () => {};

  opened(socket: Bun.Socket<RawSocket>): void {
    this.#socket = socket;
  }

  took(bytes: Buffer): void {
    this.received_bytes += bytes.byteLength;
    if (this.keep) this.received = Buffer.concat([this.received, bytes]);
    this.onData();
    this.#wake();
  }

  ended(): void {
    this.closed = true;
    this.onClose();
    this.#wake();
  }

  /**
   * Resolves with the first value of `look`, which is called again after each arrival of bytes or of the end.
   */
  async until<T>(look: () => T | null, what: string, timeout_ms = 10_000): Promise<T> {
    const deadline = performance.now() + timeout_ms;
    for (let found = look(); ; found = look()) {
      if (found !== null) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.closed) {
        const received = this.received.toString("latin1").slice(0, 500);
        throw new Error(`${what} did not come; received ${JSON.stringify(received)}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wakers.push(resolve);
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
    }
  }

  #wake(): void {
    for (const resolve of this.#wakers.splice(0)) resolve();
  }

  drained(): void {
    this.send("");
    if (this.#unsent.byteLength === 0) this.onDrain();
  }

  /** Sends text as Latin-1, so that every byte can be written. */
  send(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    const all = this.#unsent.byteLength === 0 ? bytes : Buffer.concat([this.#unsent, bytes]);
    const sent = all.byteLength === 0 ? 0 : Math.max(0, this.#socket?.write(all) ?? 0);
    this.#unsent = all.subarray(sent);
  }

  /** Whether the kernel has taken everything that was sent. */
  get flushed(): boolean {
    return this.unsent === 0;
  }

  /** The number of bytes that the kernel has not taken yet. */
  get unsent(): number {
    return this.#unsent.byteLength;
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Ends in order: FIN. */
  end(): void {
    this.#socket?.end();
  }

  /** Ends at once: RST. */
  destroy(): void {
    this.#socket?.terminate();
  }
}

const socketHandlers: Bun.SocketHandler<RawSocket> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.took(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.ended(),
  close: (socket) => socket.data.ended(),
  error: (socket) => socket.data.ended(),
};

/** A client's connection to a server on this machine. */
export class RawClient extends RawSocket {
  static async connect(url: string): Promise<RawClient> {
    const client = new RawClient();
    const { hostname, port } = new URL(url);
    await Bun.connect<RawSocket>({ hostname, port: Number(port), data: client, socket: socketHandlers });
    return client;
  }

  /**
   * Takes the next response from the received bytes, once it is complete or the connection has ended.
   *
   * @param request_method a response to HEAD has no body, whatever its headers say
   */
  async response(request_method = "GET", timeout_ms = 10_000): Promise<RawResponse> {
    const { response, rest } = await this.until(
      () => readResponse(this.received, request_method, this.closed),
      "A response",
      timeout_ms,
    );
    this.received = rest;
    return response;
  }

  /** Returns the part of the next response's body that has come; "" before its head is complete. */
  bodySoFar(): string {
    const head = readHead(this.received);
    if (head === null) return "";
    const chunked = framingOf(head, "GET", 200) === "chunked";
    return (chunked ? readChunks(head.rest).body : head.rest).toString();
  }

  /** Resolves when the server has closed the connection. */
  async untilClosed(timeout_ms = 10_000): Promise<void> {
    await this.until(() => this.closed || null, "The end of the connection", timeout_ms);
  }
}

/** Sends `bytes` on its own connection and reads one response. */
export async function rawRequest(url: string, bytes: string | Uint8Array): Promise<RawResponse> {
  const client = await RawClient.connect(url);
  try {
    client.send(bytes);
    const method = Buffer.from(bytes).toString("latin1").split(" ", 1)[0];
    return await client.response(method);
  } finally {
    client.destroy();
  }
}

/** Writes a request as text; adds Host unless one is given. */
export function spell(
  method: string,
  target: string,
  headers: RawHeaders | Record<string, string> = [],
  body = "",
): string {
  const list: RawHeaders = Array.isArray(headers) ? headers : Object.entries(headers);
  const host = headerValues(list, "host").length === 0 ? "Host: gateway.test\r\n" : "";
  const lines = list.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `${method} ${target} HTTP/1.1\r\n${host}${lines}\r\n${body}`;
}

export type RawAnswer = string | Uint8Array | null;
export type RawHandler = (request: RawRequest, socket: RawSocket) => RawAnswer | Promise<RawAnswer>;

export interface RawUpstreamOptions {
  /**
   * Whether the handler is called at the end of the head. When the request has a body, the handler sees the
   * rest in `socket`, and the connection serves no other request. Otherwise the handler is called with whole
   * requests.
   */
  at_head?: boolean;
}

/** An answer that ends its connection. */
export const OK_CLOSE =
  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";

/** A server that records requests byte for byte and answers with its handler's bytes (null: no answer). */
export class RawUpstream {
  readonly requests: RawRequest[] = [];
  readonly sockets: RawSocket[] = [];
  handler: RawHandler;
  readonly #at_head: boolean;
  readonly #listener: Bun.TCPSocketListener<RawSocket>;

  constructor(handler: RawHandler = () => OK, { at_head = false }: RawUpstreamOptions = {}) {
    this.handler = handler;
    this.#at_head = at_head;
    this.#listener = Bun.listen<RawSocket>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        ...socketHandlers,
        open: (socket) => {
          const raw = new RawSocket();
          socket.data = raw;
          raw.opened(socket);
          this.sockets.push(raw);
          const connection = this.sockets.length;
          raw.onData = () => this.#read(raw, connection);
        },
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.port}`;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** The number of open connections. */
  get open(): number {
    return this.sockets.filter((socket) => !socket.closed).length;
  }

  /** The only request so far. */
  get request(): RawRequest {
    const [first, ...more] = this.requests;
    if (first === undefined || more.length > 0) throw new Error(`${this.requests.length} requests, not 1`);
    return first;
  }

  close(): void {
    this.#listener.stop(true);
  }

  #read(socket: RawSocket, connection: number): void {
    for (;;) {
      const read = readRequest(socket.received, connection, this.#at_head);
      if (read === null) return;
      socket.received = read.rest;
      const streams = this.#at_head && hasBody(read.request);
      if (streams) socket.onData = () => {};
      this.requests.push(read.request);
      void this.#answer(read.request, socket);
      if (streams) return;
    }
  }

  async #answer(request: RawRequest, socket: RawSocket): Promise<void> {
    const answer = await this.handler(request, socket);
    if (answer !== null) socket.send(answer);
  }
}

function hasBody({ headers }: RawRequest): boolean {
  const length = headerValue(headers, "content-length") ?? "0";
  return length !== "0" || headerValue(headers, "transfer-encoding") !== null;
}

interface Head {
  head: string;
  start: string;
  headers: RawHeaders;
  rest: Buffer;
}

function readHead(bytes: Buffer): Head | null {
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

function readRequest(
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

function readResponse(
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

function framingOf(head: Head, method: string, status: number): RawResponse["framing"] {
  if (method === "HEAD" || status === 101 || status === 204 || status === 304) return "none";
  if (/chunked/i.test(headerValue(head.headers, "transfer-encoding") ?? "")) return "chunked";
  return headerValue(head.headers, "content-length") === null ? "close" : "length";
}

/** Returns the decoded body after a head, with the bytes that follow it; null while it is incomplete. */
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

/** Returns the complete chunks, and where the last one ends; the end is null while it is missing. */
function readChunks(bytes: Buffer): { body: Buffer; end: number | null } {
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
