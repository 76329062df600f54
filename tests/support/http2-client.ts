import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";

/** A response that the HTTP/2 client received. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The error code of a stream reset. It is 0 for a complete response. */
  readonly code: number;
}

/** A correct HTTP/2 client with one connection, from the library of Node.js. */
export class Http2Client {
  readonly #session: ClientHttp2Session;
  #goneAway = false;

  /** @param ca the certificate authorities that the client trusts for an `https:` URL */
  constructor(url: string, ca?: string[]) {
    this.#session = connect(url, ca === undefined ? {} : { ca });
    this.#session.on("error", () => {});
    this.#session.on("goaway", () => {
      this.#goneAway = true;
    });
  }

  /** Whether the server sent GOAWAY. */
  get goneAway(): boolean {
    return this.#goneAway;
  }

  get closed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /** Sends a request and resolves with its response, which is partial when the server resets the stream. */
  ask(path: string, headers: OutgoingHttpHeaders = {}, body?: string): Promise<Http2Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Http2Answer>();
    const stream = this.#session.request({ ":path": path, ...headers }, { endStream: body === undefined });
    let answered: IncomingHttpHeaders | null = null;
    let text = "";
    stream.on("response", (received) => {
      answered = received;
    });
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.on("error", () => {});
    stream.on("close", () => {
      if (answered === null) reject(new Error(`${path} has no response: code ${stream.rstCode}`));
      else
        resolve({ status: Number(answered[":status"]), headers: answered, body: text, code: stream.rstCode });
    });
    if (body !== undefined) stream.end(body);
    return promise;
  }

  /**
   * Sends a GET request and reads until `enough` returns true for the body so far. It then resets the stream.
   */
  async leave(path: string, enough: (body: string) => boolean): Promise<void> {
    const stream = this.#session.request({ ":path": path });
    stream.setEncoding("utf8");
    const { promise, resolve } = Promise.withResolvers<void>();
    let text = "";
    stream.on("error", () => {});
    stream.on("data", (chunk: string) => {
      text += chunk;
      if (enough(text)) resolve();
    });
    await promise;
    stream.close(8);
  }

  close(): void {
    this.#session.destroy();
  }
}
