import type { Clock } from "@ostiary/lib/async";
import type { ResponseRelay } from "./response-body.ts";

/**
 * The time between the end of the remaining streams and the shutdown deadline. In this time, clients receive
 * the end of their stream.
 */
const BEFORE_CUT_MS = 500;

/**
 * The open event streams. Event streams can stay open forever, so a stopping gateway ends them, and their
 * clients reconnect to another gateway.
 */
export class OpenEventStreams {
  readonly #clock: Clock;
  readonly #open = new Set<ResponseRelay>();
  #leaving = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(stream: ResponseRelay): void {
    this.#open.add(stream);
    if (this.#leaving) stream.leave();
  }

  delete(stream: ResponseRelay): void {
    this.#open.delete(stream);
  }

  /**
   * Ends each stream after its current event. Shortly before `timeoutMs` has elapsed, ends the streams that
   * are still open, even within an event.
   */
  leave(timeoutMs: number): void {
    this.#leaving = true;
    for (const stream of this.#open) stream.leave();
    this.#clock.after(Math.max(0, timeoutMs - BEFORE_CUT_MS), () => {
      for (const stream of this.#open) stream.finish();
    });
  }
}
