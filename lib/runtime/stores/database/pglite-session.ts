import type { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { KeyedSemaphore, Semaphore } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";
import { throwDatabaseFailure } from "./failure.ts";
import { asOrm, type Orm } from "./orm.ts";
import { UnitOfWork } from "./unit-of-work.ts";

/** Longest wait for the one session, and in a lane before it. */
const ACQUIRE_TIMEOUT_MS = 10_000;

/** A PGlite and the queue before it, shared by all views of one database. */
export class PgliteSession {
  readonly unit = new UnitOfWork();
  readonly #pglite: PGlite;
  readonly #orm: Orm;
  readonly #permits = new Semaphore(1);
  readonly #lanes: KeyedSemaphore;
  readonly #onClosed: () => Promise<void>;
  #cursors = 0;

  constructor(pglite: PGlite, lane_waiting_max: number, onClosed: () => Promise<void>) {
    this.#pglite = pglite;
    this.#lanes = new KeyedSemaphore(1, lane_waiting_max);
    this.#orm = asOrm(drizzle(pglite));
    this.#onClosed = onClosed;
  }

  /** Runs `work` alone: there is one session, and a second user would join the first one's transaction. */
  async use<T>(work: (orm: Orm) => Promise<T>): Promise<T> {
    this.unit.refuseNesting();
    const release = await this.#acquire();
    try {
      if (this.#pglite.closed) throw new StoreUnavailable("database", new Error("The database is closed."));
      return await work(this.#orm);
    } catch (error) {
      throwDatabaseFailure(error);
    } finally {
      release();
    }
  }

  /** Runs `work` when it is its turn in `lane`: one of a lane waits for the session, beside all others. */
  async inLane<T>(lane: string | undefined, work: () => Promise<T>): Promise<T> {
    if (lane === undefined) return work();
    const leave = await this.#lanes.acquire(lane, ACQUIRE_TIMEOUT_MS).catch(throwDatabaseFailure);
    return work().finally(leave);
  }

  nextCursorName(): string {
    this.#cursors += 1;
    return `stream_${this.#cursors}`;
  }

  async close(): Promise<void> {
    const release = await this.#acquire();
    try {
      if (this.#pglite.closed) return;
      await this.#pglite.close();
      await this.#onClosed();
    } finally {
      release();
    }
  }

  #acquire(): Promise<() => void> {
    return this.#permits.acquire(ACQUIRE_TIMEOUT_MS).catch(throwDatabaseFailure);
  }
}
