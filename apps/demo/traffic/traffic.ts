import { Loop } from "@ostiary/lib/async";
import { type Callers, foundCallers } from "./callers.ts";
import { headersOf, type Kind, kindAt } from "./mix.ts";

export interface TrafficOptions {
  gateway_url: string;
  identity_provider_url: string;
  /** Requests a second. */
  rate: number;
  /** How many were answered with each status, `none` without an answer, by the name of their kind. */
  onReport(counts: Record<string, Record<string, number>>): void;
  onTrouble(error: unknown): void;
}

const TICK_MS = 50;
const RETRY_MS = 1_000;
const REPORT_MS = 60_000;
/** Credentials end after an hour. */
const CALLERS_MS = 30 * 60_000;
const ANSWER_MS = 30_000;
/** A gateway that hangs does not fill this process: what is beyond is not asked. */
const IN_FLIGHT_MAX = 1_000;

/** Asks the gateway for a mix of everything at a steady rate, whether it answers or not, until it is stopped. */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #loop: Loop;
  readonly #stop = new AbortController();
  readonly #counts: Record<string, Record<string, number>> = {};
  #callers: { these: Callers; until_ms: number } | undefined;
  #in_flight = 0;
  #asked_to_ms = 0;
  #reported_ms = performance.now();

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#loop = new Loop({
      task: () => this.#tick(),
      pause_ms: TICK_MS,
      retry_ms: RETRY_MS,
      onFailure: (error) => options.onTrouble(error),
    });
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop.stop();
    this.#options.onReport(this.#counts);
  }

  /** Asks as often as the time since the last tick says. */
  async #tick(): Promise<void> {
    const these = await this.#current();
    const now_ms = performance.now();
    // after a pause it goes on at its rate, and makes up for nothing
    const since_ms = Math.min(now_ms - this.#asked_to_ms, 2 * TICK_MS);
    const due = (since_ms * this.#options.rate) / 1_000;
    const count = Math.floor(due) + (Math.random() < due % 1 ? 1 : 0);
    this.#asked_to_ms = now_ms;
    for (let asked = 0; asked < count && this.#in_flight < IN_FLIGHT_MAX; asked += 1) {
      void this.#ask(kindAt(Math.random()), these);
    }
    if (now_ms - this.#reported_ms < REPORT_MS) return;
    this.#reported_ms = now_ms;
    this.#options.onReport(this.#counts);
  }

  async #current(): Promise<Callers> {
    const now_ms = performance.now();
    if (this.#callers === undefined || this.#callers.until_ms < now_ms) {
      const these = await foundCallers({ ...this.#options, signal: this.#signal() });
      this.#callers = { these, until_ms: now_ms + CALLERS_MS };
    }
    return this.#callers.these;
  }

  async #ask(kind: Kind, callers: Callers): Promise<void> {
    this.#in_flight += 1;
    const status = await this.#statusOf(kind, callers);
    this.#in_flight -= 1;
    const counts = this.#counts[kind.name] ?? {};
    counts[status] = (counts[status] ?? 0) + 1;
    this.#counts[kind.name] = counts;
    // all data is gone, or the provider has another key: begin anew
    if (status === "401" && kind.as !== "stranger") this.#callers = undefined;
  }

  async #statusOf(kind: Kind, callers: Callers): Promise<string> {
    try {
      const { path, method = "GET" } = kind;
      const body = method === "GET" ? undefined : '{"color":"red"}';
      const headers = headersOf(kind, callers);
      const answer = await fetch(this.#options.gateway_url + path, {
        method,
        headers,
        body,
        signal: this.#signal(),
      });
      await answer.bytes();
      return String(answer.status);
    } catch {
      return "none";
    }
  }

  #signal(): AbortSignal {
    return AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ANSWER_MS)]);
  }
}
