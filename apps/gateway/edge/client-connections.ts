import type { HealthState } from "@ostiary/lib/runtime/http";
import type { Exchange } from "../exchange.ts";

interface ClientTimes {
  /** Maximum time from the end of an answer to the whole head of the next request. */
  readonly idle_timeout_ms: number;
  /** Maximum time for the rest of a request's body after the gateway answered without reading it. */
  readonly body_timeout_ms: number;
}

/**
 * The client connections and their timeouts (GW-122). The runtime's timer for a connection runs for at most
 * 255 seconds, in steps of four.
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

  /** The idle timeout of a connection, rounded up to seconds. */
  get idleSeconds(): number {
    return this.#idle_seconds;
  }

  /** Turns the idle timer off while a request is in flight, since the timer would cut slow answers. */
  hold({ server, request }: Exchange): void {
    server.timeout(request, 0);
  }

  /** Marks an answer with `Connection: close` while the gateway drains. */
  describe(headers: Headers): void {
    if (this.#health.draining) headers.set("Connection", "close");
  }

  /**
   * Starts the timer. Before the timer fires, the client must read the answer and send the next request, or
   * the rest of an unread body.
   */
  release({ server, request, body_complete }: Exchange): void {
    server.timeout(request, body_complete ? this.#idle_seconds : this.#unread_seconds);
  }
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
