import type { HealthState } from "@ostiary/lib/runtime/http";
import type { Exchange } from "../exchange.ts";

export interface ClientTimes {
  /** Between the end of an answer and the whole head of the next request. */
  readonly idle_timeout_ms: number;
  /** For a body that was not awaited: the request was answered without it. */
  readonly body_timeout_ms: number;
}

/**
 * The connections that requests come by, and how long they are kept (contract 4, Bodies and time). The runtime has
 * one timer for each, in seconds of which it counts four at a time, 255 at most.
 */
export class ClientConnections {
  readonly #health: HealthState;
  readonly #idle_seconds: number;
  readonly #unread_seconds: number;

  constructor(times: ClientTimes, health: HealthState) {
    this.#health = health;
    this.#idle_seconds = secondsOf(times.idle_timeout_ms);
    this.#unread_seconds = Math.min(this.#idle_seconds, secondsOf(times.body_timeout_ms));
  }

  /** A request is under way: the runtime's timer would cut answers that are silent for long. */
  hold({ server, request }: Exchange): void {
    server.timeout(request, 0);
  }

  /** Says in an answer that the connection ends with it, while the gateway drains. */
  describe(headers: Headers): void {
    if (this.#health.draining) headers.set("Connection", "close");
  }

  /** The answer is given: what is still to be written, and the next request, must come in time. */
  release({ server, request, body_complete }: Exchange): void {
    server.timeout(request, body_complete ? this.#idle_seconds : this.#unread_seconds);
  }
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
