import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";

/** An answer that an HTTP/2 library received. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The error code with which the stream was reset; 0 for a complete answer. */
  readonly code: number;
}

/** A well-behaved HTTP/2 client with one connection. */
export class Http2Client {
  readonly #session: ClientHttp2Session;
  #goneAway = false;

  /** @param ca the certificates that an `https:` server is trusted by */
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

  /** Sends a request and resolves with its answer, also with a part of one when the stream is reset. */
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
      if (answered === null) reject(new Error(`${path} was not answered: code ${stream.rstCode}`));
      else
        resolve({ status: Number(answered[":status"]), headers: answered, body: text, code: stream.rstCode });
    });
    if (body !== undefined) stream.end(body);
    return promise;
  }

  /** Asks and reads until `enough` holds for the body so far; then the client resets the stream. */
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
