import { waitFor } from "../../../support/time/wait-for.ts";
import { CLIENTS, KINDS } from "../clients.ts";
import type { Callers } from "../system/people.ts";
import type { System } from "../system/system.ts";
import { Publisher } from "./publisher.ts";
import { Recorder } from "./recorder.ts";
import { type Asking, get, requestOf, send } from "./requests.ts";
import { keepStream } from "./streams.ts";

const INTRODUCED_MS = 30_000;

/** A constant load: every kind of client sends requests at its rate, regardless of responses. */
export class Load implements AsyncDisposable {
  readonly recorder = new Recorder();
  readonly #system: System;
  readonly #stop = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  readonly #publisher: Publisher;
  readonly #kept: Promise<unknown>;
  #callers: Callers;

  constructor(system: System, callers: Callers) {
    this.#system = system;
    this.#callers = callers;
    const asking = CLIENTS.filter(isAsking);
    this.#timers = asking.map((client) => this.#atItsPace(client));
    this.#publisher = new Publisher(system, this.recorder);
    this.#kept = Promise.all([
      ...this.#each(KINDS.stream.rate, (index) =>
        keepStream(
          system,
          this.recorder,
          () => get("stream", "/things/events", this.#key(index)),
          this.#stop.signal,
        ),
      ),
    ]);
  }

  /** Replaces the clients' credentials, and returns the previous ones. */
  use(callers: Callers): Callers {
    const before = this.#callers;
    this.#callers = callers;
    return before;
  }

  /** Sends a request with each credential to each gateway, so that the gateways cache the credentials. */
  async introduce(callers: Callers): Promise<void> {
    const requests = [
      ...callers.keys.map((key) => get("cached", "/things/cached", key)),
      ...callers.tokens.map((token) => get("jwt", "/things/me", token)),
    ];
    const sent = this.#system.gateways.flatMap(({ url }) =>
      requests.map((request) =>
        waitFor(async () => (await send(url, request)).status === 200, {
          timeoutMs: INTRODUCED_MS,
          what: "a request with new credentials",
        }),
      ),
    );
    await Promise.all(sent);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#publisher.stop();
    this.#stop.abort();
    await this.#kept;
  }

  #atItsPace(client: Asking): NodeJS.Timeout {
    let turn = 0;
    const next = async () => {
      const { replica, url } = await this.#system.nextGateway();
      const request = requestOf(client, this.#callers, turn++);
      if (request === null) return;
      const responded = this.recorder.sends(client, replica);
      const { status, counted } = await send(url, request);
      responded(status, counted);
    };
    return setInterval(() => void next(), 1_000 / KINDS[client].rate);
  }

  #each(count: number, keep: (index: number) => Promise<void>): Promise<void>[] {
    return Array.from({ length: count }, (_, index) => keep(index));
  }

  #key(index: number) {
    const key = this.#callers.keys[index % this.#callers.keys.length];
    if (key === undefined) throw new Error("The clients have no API keys.");
    return key;
  }
}

function isAsking(client: (typeof CLIENTS)[number]): client is Asking {
  return client !== "stream" && client !== "publish";
}
