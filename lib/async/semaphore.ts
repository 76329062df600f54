import { withDeadline } from "./deadline.ts";

/** Nobody gave a permit back in time, or too many wait for one already. */
export class NoPermit extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoPermit";
  }
}

/** Gives a permit back; a second call does nothing. */
export type Release = () => void;

/**
 * A fixed number of permits, first come first served, with a limit on how many wait and for how long. Who stands
 * before something scarce, such as the connections of a pool, waits here, where it can give up.
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

  /** Whether nobody holds a permit. */
  get idle(): boolean {
    return this.#free === this.#permits;
  }

  /**
   * Resolves with a permit's release. Rejects with {@link NoPermit} after `timeout_ms`, where one is given, and at
   * once when `waiting_max` wait already.
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

  /** Runs `work` with a permit, however long the wait for one is. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    return work().finally(release);
  }

  async #wait(timeout_ms: number | undefined): Promise<void> {
    if (this.#waiting.size >= this.#waiting_max) {
      throw new NoPermit(`${this.#waiting_max} wait for a permit already.`);
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

/** A semaphore for each of any number of names, there while someone holds one of its permits. */
export class KeyedSemaphore {
  readonly #permits: number;
  readonly #waiting_max: number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** `permits` under each name, and `waiting_max` that wait for one of them. */
  constructor(permits: number, waiting_max: number) {
    this.#permits = permits;
    this.#waiting_max = waiting_max;
  }

  /** As {@link Semaphore.acquire}, under this name. */
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
