import { withDeadline } from "./deadline.ts";

/** The error for a caller without a permit: none became free in time, or too many callers are waiting. */
export class NoPermit extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoPermit";
  }
}

/** A function that returns a permit to its semaphore. A second call does nothing. */
export type Release = () => void;

/**
 * A fixed number of permits, first come, first served. Limits how many callers wait, and for how long, for a
 * scarce resource such as the connections of a pool.
 */
export class Semaphore {
  readonly #permits: number;
  readonly #waiting_max: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(permits: number, waiting_max = Number.POSITIVE_INFINITY) {
    this.#permits = permits;
    this.#free = permits;
    this.#waiting_max = waiting_max;
  }

  /** True while no permit is held. */
  get idle(): boolean {
    return this.#free === this.#permits;
  }

  /**
   * Takes a permit, and resolves with the function that releases it. Waits at most `timeout_ms`, or without a
   * limit if `timeout_ms` is undefined.
   *
   * @throws NoPermit after the timeout, or immediately if `waiting_max` callers are already waiting
   */
  async acquire(timeout_ms?: number): Promise<Release> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(timeout_ms);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#release();
    };
  }

  /** Waits for a permit, without a timeout, and runs `work` while it holds the permit. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    return work().finally(release);
  }

  async #wait(timeout_ms: number | undefined): Promise<void> {
    if (this.#waiting.size >= this.#waiting_max) {
      throw new NoPermit(`${this.#waiting_max} callers already wait for a permit.`);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    if (timeout_ms === undefined) return promise;
    return withDeadline(promise, timeout_ms, () => {
      this.#waiting.delete(resolve);
      return new NoPermit(`No permit became free within ${timeout_ms} ms.`);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** One semaphore for each name. A semaphore exists only while one of its permits is held. */
export class KeyedSemaphore {
  readonly #permits: number;
  readonly #waiting_max: number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** Allows `permits` holders and `waiting_max` waiting callers for each name. */
  constructor(permits: number, waiting_max: number) {
    this.#permits = permits;
    this.#waiting_max = waiting_max;
  }

  /** Takes a permit of `name`, as {@link Semaphore.acquire} does. */
  async acquire(name: string, timeout_ms: number): Promise<Release> {
    const semaphore = this.#semaphores.get(name) ?? new Semaphore(this.#permits, this.#waiting_max);
    this.#semaphores.set(name, semaphore);
    const release = await semaphore.acquire(timeout_ms);
    return () => {
      release();
      if (semaphore.idle && this.#semaphores.get(name) === semaphore) this.#semaphores.delete(name);
    };
  }
}
