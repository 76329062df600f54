import { Loop } from "@ostiary/lib/async";
import { type Callers, foundCallers } from "./callers.ts";
import { headersOf, type Kind, kindAt } from "./mix.ts";

interface TrafficOptions {
  gatewayUrl: string;
  identityProviderUrl: string;
  /** Requests per second. */
  rate: number;
  /** Called with the number of responses since the start, by kind and status. The status `none` means no response. */
  onReport(counts: Record<string, Record<string, number>>): void;
  onTrouble(error: unknown): void;
}

const TICK_MS = 50;
const RETRY_MS = 1_000;
const REPORT_MS = 60_000;
/** The time after which new callers are created. Their credentials expire after an hour. */
const CALLERS_MS = 30 * 60_000;
const ANSWER_MS = 30_000;
/**
 * The limit for requests in flight, so that a gateway that hangs does not exhaust memory. Requests beyond the limit
 * are skipped.
 */
const IN_FLIGHT_MAX = 1_000;

/** Sends the mix of requests at a steady rate until it is stopped, whether or not the gateway responds. */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #loop: Loop;
  readonly #stop = new AbortController();
  readonly #counts: Record<string, Record<string, number>> = {};
  #callers: { these: Callers; untilMs: number } | undefined;
  #inFlight = 0;
  #askedToMs = 0;
  #reportedMs = performance.now();

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#loop = new Loop({
      task: () => this.#tick(),
      pauseMs: TICK_MS,
      retryMs: RETRY_MS,
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

  /** Sends as many requests as are due since the last tick. */
  async #tick(): Promise<void> {
    const these = await this.#current();
    const nowMs = performance.now();
    // After a pause, the traffic resumes at its rate and does not catch up.
    const sinceMs = Math.min(nowMs - this.#askedToMs, 2 * TICK_MS);
    const due = (sinceMs * this.#options.rate) / 1_000;
    const count = Math.floor(due) + (Math.random() < due % 1 ? 1 : 0);
    this.#askedToMs = nowMs;
    for (let asked = 0; asked < count && this.#inFlight < IN_FLIGHT_MAX; asked += 1) {
      void this.#ask(kindAt(Math.random()), these);
    }
    if (nowMs - this.#reportedMs < REPORT_MS) return;
    this.#reportedMs = nowMs;
    this.#options.onReport(this.#counts);
  }

  async #current(): Promise<Callers> {
    const nowMs = performance.now();
    if (this.#callers === undefined || this.#callers.untilMs < nowMs) {
      const these = await foundCallers({ ...this.#options, signal: this.#signal() });
      this.#callers = { these, untilMs: nowMs + CALLERS_MS };
    }
    return this.#callers.these;
  }

  async #ask(kind: Kind, callers: Callers): Promise<void> {
    this.#inFlight += 1;
    const status = await this.#statusOf(kind, callers);
    this.#inFlight -= 1;
    const counts = this.#counts[kind.name] ?? {};
    counts[status] = (counts[status] ?? 0) + 1;
    this.#counts[kind.name] = counts;
    // The data was deleted or the provider has a new key: create new callers.
    if (status === "401" && kind.as !== "stranger") this.#callers = undefined;
  }

  async #statusOf(kind: Kind, callers: Callers): Promise<string> {
    try {
      const { path, method = "GET" } = kind;
      const body = method === "GET" ? undefined : '{"color":"red"}';
      const headers = headersOf(kind, callers);
      const answer = await fetch(this.#options.gatewayUrl + path, {
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
