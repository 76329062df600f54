import { StoreUnavailable } from "@ostiary/lib/stores/database";

const TURN_TIMEOUT_MS = 10_000;

/**
 * Lets one writer of this process at a time go to the database, first come first served. The database makes
 * writers wait for each other anyway; waiting here, they hold no connection that readers could use.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs `work` when all before it have ended; rejects with `StoreUnavailable` when that takes too long. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#last = promise;
    if (!(await endsInTime(before))) {
      void before.then(end);
      throw new StoreUnavailable("database", new Error(`No turn to write within ${TURN_TIMEOUT_MS} ms.`));
    }
    try {
      return await work();
    } finally {
      end();
    }
  }
}

async function endsInTime(before: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), TURN_TIMEOUT_MS);
  const inTime = await Promise.race([before.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
