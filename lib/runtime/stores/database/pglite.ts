import type { PGlite } from "@electric-sql/pglite";
import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pglite";
import { KeyedSemaphore, type Release, Semaphore, withDeadline } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";
import type { Database, TransactionOptions } from "./database.ts";
import { Deadline } from "./deadline.ts";
import { throwDatabaseFailure } from "./failure.ts";
import type { MigrationAccess } from "./migrations.ts";
import type { DatabaseAdapter } from "./observed-database.ts";
import { asOrm, type Orm, rows } from "./orm.ts";

/** The maximum wait for a lane, and the maximum wait for the session after that. */
const ACQUIRE_TIMEOUT_MS = 10_000;

/**
 * PostgreSQL in this process. It has only one session, which callers use one at a time: a second caller would run
 * inside of the first caller's transaction.
 */
export class PgliteAdapter implements DatabaseAdapter {
  readonly #pglite: PGlite;
  readonly #orm: Orm;
  readonly #session = new Semaphore(1);
  readonly #lanes: KeyedSemaphore;
  readonly #onClosed: () => Promise<void>;
  #cursors = 0;

  constructor(pglite: PGlite, laneWaitingMax: number, onClosed: () => Promise<void>) {
    this.#pglite = pglite;
    this.#lanes = new KeyedSemaphore(1, laneWaitingMax);
    this.#orm = asOrm(drizzle(pglite));
    this.#onClosed = onClosed;
  }

  /** Calls of an embedded database cannot be canceled, so the deadline limits only the wait for the session. */
  deadline(): Deadline {
    return new Deadline({ ms: ACQUIRE_TIMEOUT_MS, ofProgress: true });
  }

  async run<T>(deadline: Deadline, work: (orm: Orm) => Promise<T>): Promise<T> {
    const release = await this.#acquire(deadline.remainingMs());
    try {
      if (this.#pglite.closed) throw new StoreUnavailable("database", new Error("The database is closed."));
      return await work(this.#orm);
    } catch (error) {
      throwDatabaseFailure(error);
    } finally {
      release();
    }
  }

  transact<T>(deadline: Deadline, work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T> {
    const accessMode = options.readOnly ? "read only" : "read write";
    return this.run(deadline, (orm) =>
      orm.transaction(work, { isolationLevel: options.isolation, accessMode }),
    );
  }

  /** Waits for the lane before the session, so at most one transaction of each lane waits for the session. */
  async inTurn<T>(deadline: Deadline, { lane }: TransactionOptions, work: () => Promise<T>): Promise<T> {
    if (lane === undefined) return work();
    const leave = await this.#lanes.acquire(lane, deadline.remainingMs()).catch(throwDatabaseFailure);
    return work().finally(leave);
  }

  /** Reads through a cursor WITH HOLD, so that other callers can use the session between two batches. */
  async *stream<Row>(
    database: Database,
    operation: string,
    statement: SQL,
    batchRows: number,
  ): AsyncGenerator<Row[], void, void> {
    this.#cursors += 1;
    const cursor = sql.identifier(`stream_${this.#cursors}`);
    const send = (command: SQL) => database.run(operation, (orm) => rows<Row>(orm, command));
    await send(sql`declare ${cursor} no scroll cursor with hold for ${statement}`);
    try {
      for (;;) {
        const batch = await send(sql`fetch ${sql.raw(String(batchRows))} from ${cursor}`);
        if (batch.length > 0) yield batch;
        if (batch.length < batchRows) return;
      }
    } finally {
      await send(sql`close ${cursor}`);
    }
  }

  get migrations(): MigrationAccess {
    return { transaction: (work) => this.transact(this.deadline(), work, {}), outside: null };
  }

  async ping(timeoutMs: number): Promise<void> {
    const result = this.run(this.deadline(), (orm) => rows(orm, sql`select 1`));
    const late = () => new StoreUnavailable("database", new Error(`No response within ${timeoutMs} ms.`));
    await withDeadline(result, timeoutMs, late);
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

  #acquire(timeoutMs = ACQUIRE_TIMEOUT_MS): Promise<Release> {
    return this.#session.acquire(timeoutMs).catch(throwDatabaseFailure);
  }
}
