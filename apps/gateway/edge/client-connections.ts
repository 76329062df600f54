import type { HealthState } from "@ostiary/lib/runtime/http";
import type { Exchange } from "../exchange.ts";
import type { CallClient } from "../upstream/call.ts";

interface ClientTimes {
  /** The maximum time from the end of a response to the complete head of the next request. */
  readonly idleTimeoutMs: number;
  /** The maximum time for the rest of a request body that the gateway did not read before it responded. */
  readonly bodyTimeoutMs: number;
}

/**
 * The client connections and their timeouts (GW-122, GW-196). The runtime's timer for a connection has steps
 * of four seconds and a maximum of 255 seconds.
 */
export class ClientConnections {
  /** The idle timeout of a connection, rounded up to seconds. */
  readonly #idleSeconds: number;
  readonly #health: HealthState;
  readonly #unreadSeconds: number;

  constructor(times: ClientTimes, health: HealthState) {
    this.#health = health;
    this.#idleSeconds = secondsOf(times.idleTimeoutMs);
    this.#unreadSeconds = Math.min(this.#idleSeconds, secondsOf(times.bodyTimeoutMs));
  }

  /** Turns off the idle timer while a request is in flight, because the timer would cut slow responses. */
  hold({ server, request }: CallClient): void {
    server.timeout(request, 0);
  }

  /** Adds `Connection: close` to a response while the gateway drains. */
  describe(headers: Headers): void {
    if (this.#health.draining) headers.set("Connection", "close");
  }

  /**
   * Starts the connection's idle timer after a response. The timer limits the time to read the response, and
   * to send the next request or the rest of an unread body.
   */
  release({ server, request, bodyComplete }: CallClient & Pick<Exchange, "bodyComplete">): void {
    server.timeout(request, bodyComplete ? this.#idleSeconds : this.#unreadSeconds);
  }
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}
