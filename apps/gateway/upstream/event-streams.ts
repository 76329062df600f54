import type { Clock } from "@ostiary/lib/async";
import type { ResponseRelay } from "./response-body.ts";

/** Before what is left is cut, a stream that stands within an event is ended: its end must still be sent. */
const BEFORE_CUT_MS = 500;

/**
 * The event streams that are open. They would never end by themselves, so a gateway that stops ends them: their
 * clients connect again, and are served by another gateway.
 */
export class EventStreams {
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

  /** Ends each stream behind its event, and those whose event does not end shortly before `timeout_ms` are over. */
  leave(timeout_ms: number): void {
    this.#leaving = true;
    for (const stream of this.#open) stream.leave();
    this.#clock.after(Math.max(0, timeout_ms - BEFORE_CUT_MS), () => {
      for (const stream of this.#open) stream.finish();
    });
  }
}
