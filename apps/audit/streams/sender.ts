import type { Clock } from "@ostiary/lib/async";
import type { DeliveryMetrics } from "./metrics.ts";
import { type CallResult, Receiver, type ReceiverDeps } from "./receiver-call.ts";
import { type Message, signedHeaders } from "./secrets.ts";

export interface SenderDeps {
  receivers: ReceiverDeps;
  clock: Clock;
  metrics: DeliveryMetrics;
}

export type Sent = CallResult & { callMs: number };

export type Refusal = Extract<Sent, { outcome: "refused" }>;

/** Sends the delivery requests of one turn, over a connection that stays open between them. */
export class Sender {
  readonly #deps: SenderDeps;
  #receiver: Receiver;
  #url: string;

  constructor(deps: SenderDeps, url: string) {
    this.#deps = deps;
    this.#url = url;
    this.#receiver = new Receiver(url, deps.receivers);
  }

  close(): void {
    this.#receiver.close();
  }

  /** Sends the next requests to `url`. */
  turnTo(url: string): void {
    if (url === this.#url) return;
    this.#receiver.close();
    this.#url = url;
    this.#receiver = new Receiver(url, this.#deps.receivers);
  }

  /** Sends a message, measures the request and counts its result. An aborted `signal` ends the request at once. */
  async send(message: Message, secrets: readonly string[], signal: AbortSignal): Promise<Sent> {
    const { clock, metrics } = this.#deps;
    const headers = signedHeaders(message, secrets, clock.now());
    const begunMs = clock.elapsedMs();
    const result = await this.#receiver.post(message.body, headers, signal);
    const callMs = clock.elapsedMs() - begunMs;
    if (result.outcome !== "aborted") metrics.called(result.outcome, callMs / 1_000);
    return { ...result, callMs };
  }
}
