import type { ClientResponse, Counted, Served } from "../cell-run.ts";
import type { Client } from "../clients.ts";

/**
 * A response without its scheduling delay. That delay is known only after the next sample of the processes'
 * waits.
 */
export type Seen = Omit<ClientResponse, "delayMs">;

export class Recorder {
  #responses: Seen[] = [];
  #served: Served[] = [];
  readonly #underway = new Set<{ readonly startedMs: number }>();

  /** Records that a client sends a request now. Returns the function that records the response. */
  sends(client: Client, replica: number): (status: number | null, counted?: Counted) => void {
    const startedMs = performance.now();
    const request = { startedMs };
    this.#underway.add(request);
    return (status, counted) => {
      this.#underway.delete(request);
      const endedMs = performance.now();
      this.saw({ client, replica, startedMs, endedMs, status, ...(counted && { counted }) });
    };
  }

  saw(response: Seen): void {
    this.#responses.push(response);
  }

  sawServed(served: Served): void {
    this.#served.push(served);
  }

  get responses(): readonly Seen[] {
    return this.#responses;
  }

  get served(): readonly Served[] {
    return this.#served;
  }

  /** Returns whether a request that was sent before `beforeMs` is still in flight. */
  awaits(beforeMs: number): boolean {
    return [...this.#underway].some(({ startedMs }) => startedMs < beforeMs);
  }

  /** Returns what was recorded since the last call, and clears it. */
  take(): { responses: Seen[]; served: Served[] } {
    const taken = { responses: this.#responses, served: this.#served };
    this.#responses = [];
    this.#served = [];
    return taken;
  }
}
