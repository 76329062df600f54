import type { Socket } from "bun";

/** The complete response of a service. */
export interface Answer {
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: [name: string, value: string][];
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** A connection to a service. It carries one request at a time. */
interface Connection {
  socket: Socket<Connection> | null;
  /** The request head to send when the connection opens. */
  head: string;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  /** The received part of an incomplete response; null if no response is incomplete. */
  received: Buffer | null;
}

/**
 * A minimal HTTP client with a pool of keep-alive connections. The most recently used connection is used
 * first. The client assumes that a response has a Content-Length or no body.
 */
export class Connections {
  readonly #hostname: string;
  readonly #port: number;
  readonly #dropped: ReadonlySet<string>;
  readonly #idle: Connection[] = [];
  readonly #handlers = {
    open: (socket: Socket<Connection>) => {
      socket.data.socket = socket;
      socket.write(socket.data.head);
    },
    data: (socket: Socket<Connection>, chunk: Uint8Array) => this.#read(socket.data, chunk),
    close: ({ data }: Socket<Connection>) => this.#forget(data),
  };

  /** @param dropped the response headers to remove, with names in lower case */
  constructor(origin: string, dropped: ReadonlySet<string>) {
    const { hostname, port } = new URL(origin);
    this.#dropped = dropped;
    this.#hostname = hostname;
    this.#port = Number(port);
  }

  /** Sends a request without a body. Rejects if the connection closes before the response is complete. */
  send(head: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const idle = this.#idle.pop();
      if (idle === undefined) return this.#open({ socket: null, head, resolve, reject, received: null });
      idle.resolve = resolve;
      idle.reject = reject;
      idle.socket?.write(head);
    });
  }

  #open(connection: Connection): void {
    Bun.connect<Connection>({
      hostname: this.#hostname,
      port: this.#port,
      socket: this.#handlers,
      data: connection,
    }).catch(connection.reject);
  }

  #read(connection: Connection, chunk: Uint8Array): void {
    const { received } = connection;
    const bytes =
      received === null
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([received, chunk]);
    const answer = answerIn(bytes, this.#dropped);
    if (answer === null) {
      connection.received = Buffer.from(bytes); // A copy: the runtime reuses the memory of a chunk
      return;
    }
    connection.received = null;
    this.#idle.push(connection);
    connection.resolve(answer);
  }

  #forget(connection: Connection): void {
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    connection.reject(new Error("The service closed the connection."));
  }
}

/** Parses a response. Returns null if `bytes` do not contain the complete response. */
function answerIn(bytes: Buffer, dropped: ReadonlySet<string>): Answer | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const headers: [string, string][] = [];
  let length = 0;
  for (let at = head.indexOf("\r\n") + 2; at > 1 && at < head.length; ) {
    const next = head.indexOf("\r\n", at);
    const lineEnd = next < 0 ? head.length : next;
    const colon = head.indexOf(":", at);
    const name = head.slice(at, colon).toLowerCase();
    const value = head.slice(colon + 1, lineEnd).trim();
    if (name === "content-length") length = Number(value);
    if (!dropped.has(name)) headers.push([name, value]);
    at = lineEnd + 2;
  }
  const start = end + "\r\n\r\n".length;
  if (bytes.length < start + length) return null;
  const body = length === 0 ? null : new Uint8Array(bytes.subarray(start, start + length));
  return { status: Number(head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length)), headers, body };
}
