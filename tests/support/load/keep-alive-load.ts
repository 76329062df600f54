import { headerValue, RawClient, type RawResponse, spell } from "../http/raw-http.ts";

/** A kind of clients, with the request that each of them repeats. */
export interface LoadKind {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly clients: number;
  /** The maximum pause between two requests of a client. The pauses are random. */
  readonly pauseMsMax: number;
}

/**
 * Clients with one connection each. A client opens a new connection when the server has closed the old one or
 * sent `Connection: close`, and after a failure. Clients do not retry, so a request without a response is a failure.
 */
export class KeepAliveLoad {
  /** The ids of requests with a 2xx response, by the kind of the client. */
  readonly responded = new Map<string, string[]>();
  /** The failed requests. `seen` is the status line or the reason why there is no response. */
  readonly failures: { kind: string; request_id: string | null; seen: string }[] = [];
  readonly #clients: Promise<void>[] = [];
  #ended = false;

  constructor(kinds: readonly LoadKind[]) {
    for (const kind of kinds) {
      this.responded.set(kind.name, []);
      for (let count = 0; count < kind.clients; count++) this.#clients.push(this.#run(kind));
    }
  }

  /** The lowest number of 2xx responses that a kind of clients has received. */
  get least(): number {
    return Math.min(...[...this.responded.values()].map(({ length }) => length));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
  }

  async #run(kind: LoadKind): Promise<void> {
    const { name, url, method, path, body = "", headers = {}, pauseMsMax } = kind;
    const length = Buffer.byteLength(body);
    const request = spell(
      method,
      path,
      length === 0 ? headers : { ...headers, "Content-Length": String(length) },
      body,
    );
    let client: RawClient | null = null;
    while (!this.#ended) {
      await Bun.sleep(Math.random() * pauseMsMax);
      // Read what arrived during the pause: perhaps the server has closed the connection.
      await new Promise(setImmediate);
      if (client === null || client.closed) {
        client?.destroy();
        client = await RawClient.connect(url);
      }
      client.send(request);
      const response: RawResponse | string = await client.response(method, 60_000).catch(String);
      if (
        typeof response === "string" ||
        !response.complete ||
        response.status < 200 ||
        response.status > 299
      ) {
        const request_id =
          typeof response === "string" ? null : headerValue(response.headers, "x-request-id");
        const seen = typeof response === "string" ? response : response.start || "closed without a response";
        this.failures.push({ kind: name, request_id, seen });
        client.destroy();
        client = null;
        continue;
      }
      this.responded.get(name)?.push(headerValue(response.headers, "x-request-id") ?? "");
      if (headerValue(response.headers, "connection") !== "close") continue;
      client.end();
      client = null;
    }
    client?.destroy();
  }
}
