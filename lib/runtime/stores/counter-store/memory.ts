import { type Clock, systemClock } from "../../../async/index.ts";
import { COUNTERS_NAMESPACE, type StoreObserver } from "../observer.ts";
import type { Charge, ChargedWindow, CounterStore, Refund, WindowCount } from "./counter-store.ts";

interface Window {
  count: number;
  endsMs: number;
}

/** More than one, so ended windows are removed faster than new ones open. */
const SWEEP_STEPS = 4;

/** Ended windows are removed gradually when new ones open, so no call pays for a full sweep. */
export class MemoryCounterStore implements CounterStore {
  readonly #observer: StoreObserver;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #sweep = this.#windows.entries();
  readonly isSpread = false;

  constructor(observer: StoreObserver, clock: Clock = systemClock) {
    this.#observer = observer;
    this.#clock = clock;
  }

  get size(): number {
    return this.#windows.size;
  }

  async increment(bucket: string, window_seconds: number): Promise<WindowCount> {
    const now = this.#now();
    const windowMs = window_seconds * 1000;
    const window = this.#find(bucket, now, windowMs) ?? this.#open(bucket, windowMs, now);
    window.count += 1;
    this.#observe("increment");
    return { count: window.count, ttlMs: window.endsMs - now };
  }

  async charge(charges: readonly Charge[]): Promise<ChargedWindow[] | null> {
    const now = this.#now();
    const asked = charges.map((charge) => {
      const { bucket, windowMs, isPeriod, start, requests } = charge;
      const window = this.#find(bucket, now, isPeriod ? Number.POSITIVE_INFINITY : windowMs);
      const count = window?.count ?? start;
      return { charge, window, count, isExhausted: count !== null && count >= requests };
    });
    const refused = asked.some(({ isExhausted }) => isExhausted);
    this.#observe("charge");
    if (!refused && asked.some(({ count }) => count === null)) return null;
    return asked.map(({ charge: { bucket, windowMs }, window: found, count, isExhausted }) => {
      const charged = (count ?? 0) + (refused ? 0 : 1);
      const window = found ?? (charged > 0 ? this.#open(bucket, windowMs, now) : undefined);
      if (window !== undefined) window.count = charged;
      const endsMs = window?.endsMs ?? now + windowMs;
      return { count: isExhausted ? charged + 1 : charged, ttlMs: endsMs - now, endsMs };
    });
  }

  async refund(refunds: readonly Refund[]): Promise<boolean[]> {
    const now = this.#now();
    this.#observe("refund");
    return refunds.map(({ bucket, endsMs }) => {
      const window = this.#find(bucket, now, Number.POSITIVE_INFINITY);
      if (window?.endsMs !== endsMs || window.count === 0) return false;
      window.count -= 1;
      return true;
    });
  }

  async ping(): Promise<void> {}

  async close(): Promise<void> {
    this.#windows.clear();
  }

  #now(): number {
    return Math.floor(this.#clock.elapsedMs());
  }

  /** Returns the open window, or undefined. A window that would last longer than `longestMs` ends after `longestMs`. */
  #find(bucket: string, now: number, longestMs: number): Window | undefined {
    const window = this.#windows.get(bucket);
    if (window === undefined || window.endsMs <= now) return undefined;
    window.endsMs = Math.min(window.endsMs, now + longestMs);
    return window;
  }

  #open(bucket: string, windowMs: number, now: number): Window {
    const window = { count: 0, endsMs: now + windowMs };
    this.#removeEnded(now);
    this.#windows.set(bucket, window);
    return window;
  }

  #observe(operation: string): void {
    const name = { system: "memory", operation, namespace: COUNTERS_NAMESPACE };
    this.#observer({ ...name, duration_ms: 0, failed: false });
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
