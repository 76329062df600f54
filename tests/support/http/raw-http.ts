/**
 * A client and an upstream that send and receive HTTP/1.1 as bytes, on both sides of a server under test.
 * Both can send messages that no library would produce. The upstream records the requests that it receives.
 */

import {
  framingOf,
  hasBody,
  headerValues,
  type RawHeaders,
  type RawRequest,
  type RawResponse,
  readChunks,
  readHead,
  readRequest,
  readResponse,
} from "./raw-http-messages.ts";

export {
  headerValue,
  headerValues,
  type RawHeaders,
  type RawRequest,
  type RawResponse,
} from "./raw-http-messages.ts";

/** A connection of the client or the upstream. */
export class RawSocket {
  /** The received bytes that are not parsed yet. Stays empty while `keep` is false. */
  received: Buffer = Buffer.alloc(0);
  receivedBytes = 0;
  /** Whether `received` keeps the bytes. Otherwise, the connection only counts them. */
  keep = true;
  closed = false;
  /** The bytes that the kernel has not accepted yet. */
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
    this.receivedBytes += bytes.byteLength;
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
   * Resolves with the first value other than null that `look` returns. It calls `look` now, whenever bytes
   * arrive, and when the connection closes. Rejects when the connection closes or the time is over without a
   * value.
   */
  async until<T>(look: () => T | null, what: string, timeoutMs = 10_000): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    for (let found = look(); ; found = look()) {
      if (found !== null) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.closed) {
        const received = this.received.toString("latin1").slice(0, 500);
        throw new Error(`Still missing: ${what}. Received so far: ${JSON.stringify(received)}`);
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

  /** Sends bytes, or text in Latin-1, in which a string can contain every byte. */
  send(data: string | Uint8Array): void {
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    const all = this.#unsent.byteLength === 0 ? bytes : Buffer.concat([this.#unsent, bytes]);
    const sent = all.byteLength === 0 ? 0 : Math.max(0, this.#socket?.write(all) ?? 0);
    this.#unsent = all.subarray(sent);
  }

  /** Whether the kernel has accepted everything that was sent. */
  get flushed(): boolean {
    return this.unsent === 0;
  }

  /** The number of bytes that the kernel has not accepted yet. */
  get unsent(): number {
    return this.#unsent.byteLength;
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Closes the connection gracefully, with FIN. */
  end(): void {
    this.#socket?.end();
  }

  /** Resets the connection, with RST. */
  destroy(): void {
    this.#socket?.terminate();
  }
}

/**
 * Sends `times` copies of `part` at the speed at which the peer reads, and then sends `end`. Calls `onSent`
 * with the number of bytes so far.
 */
export function pump(
  socket: RawSocket,
  part: Buffer,
  times: number,
  end = "",
  onSent: (bytes: number) => void = () => {},
) {
  let left = times;
  let sent = 0;
  const more = () => {
    while (left > 0 && socket.flushed && !socket.closed) {
      left -= 1;
      sent += part.length;
      socket.send(part);
      onSent(sent);
    }
    if (left === 0) {
      left = -1;
      socket.send(end);
    }
  };
  socket.onDrain = more;
  more();
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
   * Waits until the next response is complete or the connection has closed. Removes the response from
   * `received` and returns it.
   *
   * @param request_method the method of the request, because a response to HEAD has no body
   */
  async response(request_method = "GET", timeoutMs = 10_000): Promise<RawResponse> {
    const { response, rest } = await this.until(
      () => readResponse(this.received, request_method, this.closed),
      "A response",
      timeoutMs,
    );
    this.received = rest;
    return response;
  }

  /** Returns the received part of the next response's body. Returns "" until all headers have arrived. */
  bodySoFar(): string {
    const head = readHead(this.received);
    if (head === null) return "";
    const chunked = framingOf(head, "GET", 200) === "chunked";
    return (chunked ? readChunks(head.rest).body : head.rest).toString();
  }

  async untilClosed(timeoutMs = 10_000): Promise<void> {
    await this.until(() => this.closed || null, "The close of the connection", timeoutMs);
  }
}

/** Sends `bytes` over a new connection and returns the first response. */
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

/** Returns the text of a request. It adds a Host header unless `headers` has one. */
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

type SentResponse = string | Uint8Array | null;
type RawHandler = (request: RawRequest, socket: RawSocket) => SentResponse | Promise<SentResponse>;

export interface RawUpstreamOptions {
  hostname?: string;
  port?: number;
  /**
   * If true, the handler is called before the request's body arrives. It then reads the body from `socket`,
   * and the connection serves no request after this body. By default, the handler is called with complete
   * requests.
   */
  atHead?: boolean;
}

/** A response after which the connection closes. */
export const OK_CLOSE =
  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
/** The head of an event stream. Its body consists of {@link chunk}s. */
export const EVENTS =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
export const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
export const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";

/**
 * A server that records requests byte for byte. It sends the bytes that its handler returns, or nothing for
 * null.
 */
export class RawUpstream {
  readonly requests: RawRequest[] = [];
  readonly sockets: RawSocket[] = [];
  handler: RawHandler;
  readonly #atHead: boolean;
  readonly #listener: Bun.TCPSocketListener<RawSocket>;

  constructor(
    handler: RawHandler = () => OK,
    { atHead = false, hostname = "127.0.0.1", port = 0 }: RawUpstreamOptions = {},
  ) {
    this.handler = handler;
    this.#atHead = atHead;
    this.#listener = Bun.listen<RawSocket>({
      hostname,
      port,
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

  get open(): number {
    return this.sockets.filter((socket) => !socket.closed).length;
  }

  /** Holds all responses from now on. Returns the sockets by request target, so that a test can respond. */
  holdResponses(): Map<string, RawSocket> {
    const held = new Map<string, RawSocket>();
    this.handler = ({ target }, socket) => {
      held.set(target, socket);
      return null;
    };
    return held;
  }

  /** The only request so far. Throws when there are more or none. */
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
      const read = readRequest(socket.received, connection, this.#atHead);
      if (read === null) return;
      socket.received = read.rest;
      const streams = this.#atHead && hasBody(read.request);
      if (streams) socket.onData = () => {};
      this.requests.push(read.request);
      void this.#respond(read.request, socket);
      if (streams) return;
    }
  }

  async #respond(request: RawRequest, socket: RawSocket): Promise<void> {
    const response = await this.handler(request, socket);
    if (response !== null) socket.send(response);
  }
}
