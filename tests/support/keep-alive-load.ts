import { headerValue, RawClient, type RawResponse, spell } from "./raw-http.ts";

/** The request that one kind of client repeats. */
export interface LoadKind {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly clients: number;
  /** The longest pause between two requests of a client. */
  readonly pause_ms_max: number;
}

/**
 * Clients with one connection each, which they keep until they are told to leave it or find it closed. They
 * retry nothing: a request without an answer has failed.
 */
export class KeepAliveLoad {
  /** The ids of requests that were answered 2xx, by kind. */
  readonly answered = new Map<string, string[]>();
  /** Failures: the status, or the reason for a missing answer. */
  readonly failures: { kind: string; request_id: string | null; seen: string }[] = [];
  readonly #clients: Promise<void>[] = [];
  #ended = false;

  constructor(kinds: readonly LoadKind[]) {
    for (const kind of kinds) {
      this.answered.set(kind.name, []);
      for (let count = 0; count < kind.clients; count++) this.#clients.push(this.#run(kind));
    }
  }

  /** The number of answered requests of the rarest kind. */
  get least(): number {
    return Math.min(...[...this.answered.values()].map(({ length }) => length));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
  }

  async #run(kind: LoadKind): Promise<void> {
    const { name, url, method, path, body = "", headers = {}, pause_ms_max } = kind;
    const length = Buffer.byteLength(body);
    const request = spell(
      method,
      path,
      length === 0 ? headers : { ...headers, "Content-Length": String(length) },
      body,
    );
    let client: RawClient | null = null;
    while (!this.#ended) {
      await Bun.sleep(Math.random() * pause_ms_max);
      if (client === null || client.closed) client = await RawClient.connect(url);
      client.send(request);
      const answer: RawResponse | string = await client.response(method, 60_000).catch(String);
      if (typeof answer === "string" || !answer.complete || answer.status < 200 || answer.status > 299) {
        const request_id = typeof answer === "string" ? null : headerValue(answer.headers, "x-request-id");
        const seen = typeof answer === "string" ? answer : answer.start || "closed without an answer";
        this.failures.push({ kind: name, request_id, seen });
        client.destroy();
        client = null;
        continue;
      }
      this.answered.get(name)?.push(headerValue(answer.headers, "x-request-id") ?? "");
      if (headerValue(answer.headers, "connection") !== "close") continue;
      client.end();
      client = null;
    }
    client?.destroy();
  }
}
