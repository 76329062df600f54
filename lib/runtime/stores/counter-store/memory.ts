import { type Clock, systemClock } from "../../../async/index.ts";
import type { StoreObserver } from "../observer.ts";
import type { Charge, CounterStore, Refund, WindowCount } from "./counter-store.ts";

interface Window {
  count: number;
  endsMs: number;
}

/**
 * The number of windows that are checked whenever a window opens. It is more than one, so ended windows are
 * removed faster than new ones open.
 */
const SWEEP_STEPS = 4;

/**
 * Counters in the memory of this process. Ended windows are removed gradually when new ones open. Memory use
 * is therefore proportional to the number of open windows, and no call pays for a full sweep.
 */
export class MemoryCounterStore implements CounterStore {
  readonly #observer: StoreObserver;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();
  readonly isSpread = false;

  constructor(namespace: string, observer: StoreObserver, clock: Clock = systemClock) {
    this.#namespace = namespace;
    this.#observer = observer;
    this.#clock = clock;
  }

  /** The number of windows in memory, including ended windows that have not been removed yet. */
  get size(): number {
    return this.#windows.size;
  }

  async increment(bucket: string, window_seconds: number): Promise<WindowCount> {
    const now = this.#now();
    const window = this.#open(bucket, window_seconds * 1000, now);
    window.count += 1;
    this.#observe("increment");
    return { count: window.count, ttlMs: window.endsMs - now };
  }

  async charge(charges: readonly Charge[]): Promise<WindowCount[] | null> {
    const now = this.#now();
    const found = charges.map((charge) => this.#find(charge.bucket, now) ?? this.#resume(charge, now));
    const isUnknown = ({ start }: Charge, index: number) => start === null && found[index] === undefined;
    const isExhausted = (charge: Charge, index: number) =>
      !isUnknown(charge, index) && (found[index]?.count ?? 0) >= charge.requests;
    const refused = charges.some(isExhausted);
    if (!refused && charges.some(isUnknown)) {
      this.#observe("charge");
      return null;
    }
    const counts = charges.map((charge, index) => {
      const { bucket, windowMs } = charge;
      if (refused) {
        const { count, endsMs } = found[index] ?? { count: 0, endsMs: now + windowMs };
        return { count: isExhausted(charge, index) ? count + 1 : count, ttlMs: endsMs - now };
      }
      const window = this.#open(bucket, windowMs, now);
      window.count += 1;
      return { count: window.count, ttlMs: window.endsMs - now };
    });
    this.#observe("charge");
    return counts;
  }

  async refund(refunds: readonly Refund[]): Promise<void> {
    const now = this.#now();
    for (const { bucket, ttlMs } of refunds) {
      const window = this.#find(bucket, now);
      if (window !== undefined && window.endsMs - now <= ttlMs && window.count > 0) window.count -= 1;
    }
    this.#observe("refund");
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#windows.clear();
  }

  #now(): number {
    return Math.floor(this.#clock.elapsedMs());
  }

  /** Returns the bucket's open window, or undefined if it has none. */
  #find(bucket: string, now: number): Window | undefined {
    const window = this.#windows.get(bucket);
    return window === undefined || window.endsMs <= now ? undefined : window;
  }

  /**
   * Opens a window whose count is the charge's `start`, and returns it. Returns undefined if `start` is 0 or
   * unknown.
   */
  #resume({ bucket, windowMs, start }: Charge, now: number): Window | undefined {
    if (start === null || start === 0) return undefined;
    const window = this.#open(bucket, windowMs, now);
    window.count = start;
    return window;
  }

  /** Returns the bucket's open window, or opens one. */
  #open(bucket: string, windowMs: number, now: number): Window {
    const found = this.#find(bucket, now);
    if (found !== undefined) return found;
    const window = { count: 0, endsMs: now + windowMs };
    this.#removeEnded(now);
    this.#windows.set(bucket, window);
    return window;
  }

  #observe(operation: string): void {
    const namespace = this.#namespace;
    this.#observer({ system: "memory", operation, namespace, duration_ms: 0, failed: false });
  }

  #removeEnded(now: number): void {
    for (let step = 0; step < SWEEP_STEPS; step++) {
      const { done, value } = this.#sweep.next();
      if (done) {
        this.#sweep = this.#windows.entries();
        return;
      }
      const [bucket, window] = value;
      if (window.endsMs <= now) this.#windows.delete(bucket);
    }
  }
}
