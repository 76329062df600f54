import { withDeadline } from "./deadline.ts";

export class NoPermit extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoPermit";
  }
}

/** A function that returns a permit to its semaphore. A second call does nothing. */
export type Release = () => void;

/** A fixed number of permits, first come, first served. */
export class Semaphore {
  readonly #permits: number;
  readonly #waitingMax: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(permits: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#permits = permits;
    this.#free = permits;
    this.#waitingMax = waitingMax;
  }

  get idle(): boolean {
    return this.#free === this.#permits;
  }

  /** Waits at most `timeoutMs`. Rejects with NoPermit then, or at once if `waitingMax` callers already wait. */
  async acquire(timeoutMs?: number): Promise<Release> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(timeoutMs);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#release();
    };
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    return work().finally(release);
  }

  async #wait(timeoutMs: number | undefined): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) {
      throw new NoPermit(`${this.#waitingMax} callers already wait for a permit.`);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    if (timeoutMs === undefined) return promise;
    return withDeadline(promise, timeoutMs, () => {
      this.#waiting.delete(resolve);
      return new NoPermit(`No permit became free within ${timeoutMs} ms.`);
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
  readonly #waitingMax: number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** Allows `permits` holders and `waitingMax` waiting callers for each name. */
  constructor(permits: number, waitingMax = Number.POSITIVE_INFINITY) {
    this.#permits = permits;
    this.#waitingMax = waitingMax;
  }

  async acquire(name: string, timeoutMs?: number): Promise<Release> {
    const begun = () => new Semaphore(this.#permits, this.#waitingMax);
    const semaphore = this.#semaphores.getOrInsertComputed(name, begun);
    const release = await semaphore.acquire(timeoutMs);
    return () => {
      release();
      if (semaphore.idle && this.#semaphores.get(name) === semaphore) this.#semaphores.delete(name);
    };
  }
}
