import { type Clock, systemClock } from "../../../async/index.ts";
import type { StoreObserver } from "../observer.ts";
import type { CounterStore, WindowCount } from "./counter-store.ts";

interface Window {
  count: number;
  ends_ms: number;
}

/** How many windows are looked at for each one that is opened: more than one, so that the ended ones lose. */
const SWEEP_STEPS = 4;

/**
 * Counters of this process. Ended windows are removed little by little as new ones open, so that memory
 * follows the number of open windows and no call pays for all of them.
 */
export class MemoryCounterStore implements CounterStore {
  readonly #observer: StoreObserver;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();

  constructor(namespace: string, observer: StoreObserver, clock: Clock = systemClock) {
    this.#namespace = namespace;
    this.#observer = observer;
    this.#clock = clock;
  }

  /** Windows held, ended ones included that wait to be removed. */
  get size(): number {
    return this.#windows.size;
  }

  async increment(bucket: string, window_seconds: number): Promise<WindowCount> {
    const now = Math.floor(this.#clock.elapsed_ms());
    let window = this.#windows.get(bucket);
    if (window === undefined || window.ends_ms <= now) {
      window = { count: 0, ends_ms: now + window_seconds * 1000 };
      this.#removeEnded(now);
      this.#windows.set(bucket, window);
    }
    window.count += 1;
    this.#observer({
      system: "memory",
      operation: "increment",
      namespace: this.#namespace,
      duration_ms: 0,
      failed: false,
    });
    return { count: window.count, ttl_ms: window.ends_ms - now };
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#windows.clear();
  }

  #removeEnded(now: number): void {
    for (let step = 0; step < SWEEP_STEPS; step++) {
      const { done, value } = this.#sweep.next();
      if (done) {
        this.#sweep = this.#windows.entries();
        return;
      }
      const [bucket, window] = value;
      if (window.ends_ms <= now) this.#windows.delete(bucket);
    }
  }
}
