import { type Clock, unstalledClock } from "../../../async/index.ts";
import { ConnectionLost } from "./failure.ts";

interface TimeLimit {
  ms: number;
  /** Whether the time counts only while the server owes a response, and starts again with each response. */
  ofProgress: boolean;
}

/** The deadline of one call. It covers the wait for a turn and a connection, all statements, and retries. */
export class Deadline {
  /** Rejects with `ConnectionLost` when the deadline passes, or never. */
  readonly passed: Promise<never>;
  readonly #limit: TimeLimit;
  readonly #clock: Clock;
  readonly #untilMs: number;
  readonly #reject: (error: Error) => void;
  #pending = 0;
  #isOver = false;
  #cancel: () => void = () => {};

  constructor(limit: TimeLimit, clock: Clock = unstalledClock) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.passed = promise;
    this.#reject = reject;
    this.#limit = limit;
    this.#clock = clock;
    this.#untilMs = clock.elapsedMs() + limit.ms;
    if (!limit.ofProgress) this.#start();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  remainingMs(): number {
    const { ms, ofProgress } = this.#limit;
    return ofProgress ? ms : Math.max(0, this.#untilMs - this.#clock.elapsedMs());
  }

  /** Records that the server owes one more response, until the caller calls `responded`. */
  asked(): void {
    this.#pending += 1;
    if (this.#limit.ofProgress && this.#pending === 1) this.#start();
  }

  responded(): void {
    this.#pending -= 1;
    if (!this.#limit.ofProgress) return;
    this.#cancel();
    if (this.#pending > 0) this.#start();
  }

  end(): void {
    this.#cancel();
  }

  #start(): void {
    const { ms } = this.#limit;
    this.#cancel = this.#clock.after(ms, () => {
      this.#isOver = true;
      const message = `The database did not respond within ${ms} ms.`;
      this.#reject(new ConnectionLost(message, { isRepeatable: false }));
    });
  }
}
