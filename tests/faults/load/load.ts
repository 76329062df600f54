import { CLIENTS, KINDS } from "../clients.ts";
import type { Callers } from "../system/people.ts";
import type { System } from "../system/system.ts";
import { Publisher } from "./publisher.ts";
import { Recorder } from "./recorder.ts";
import { type Asking, get, requestOf, send } from "./requests.ts";
import { keepSocket } from "./sockets.ts";
import { keepStream } from "./streams.ts";

/** The steady load: every kind of client at its pace, whatever becomes of its requests. */
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
      ...this.#each(KINDS.socket.rate, (index) =>
        keepSocket(
          system,
          this.recorder,
          () => get("socket", "/things/socket", this.#key(index)),
          this.#stop.signal,
        ),
      ),
    ]);
  }

  /** Has clients use these credentials from now on. */
  use(callers: Callers): void {
    this.#callers = callers;
  }

  /** Shows the credentials to each gateway, so that it has them at hand. */
  async introduce(callers: Callers): Promise<void> {
    const requests = callers.keys.flatMap((key) => [get("cached", "/things/cached", key)]);
    for (const token of callers.tokens) requests.push(get("jwt", "/things/me", token));
    const sent = this.#system.gateways.flatMap(({ url }) => requests.map((request) => send(url, request)));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    if (statuses.some((status) => status !== 200)) {
      throw new Error(`The system is not well before the fault: ${statuses.join(", ")}.`);
    }
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
      const request = requestOf(client, this.#callers, turn++);
      if (request === null) return;
      const { replica, url } = this.#system.nextGateway();
      const answered = this.recorder.sends(client, replica);
      const { status, counted } = await send(url, request);
      answered(status, counted);
    };
    return setInterval(() => void next(), 1_000 / KINDS[client].rate);
  }

  #each(count: number, keep: (index: number) => Promise<void>): Promise<void>[] {
    return Array.from({ length: count }, (_, index) => keep(index));
  }

  #key(index: number) {
    const key = this.#callers.keys[index % this.#callers.keys.length];
    if (key === undefined) throw new Error("There is nobody to ask.");
    return key;
  }
}

function isAsking(client: (typeof CLIENTS)[number]): client is Asking {
  return client !== "stream" && client !== "socket" && client !== "publish";
}
