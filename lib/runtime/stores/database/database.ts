import type { SQL } from "drizzle-orm";
import type { StoreObserver } from "../observer.ts";
import type { Orm } from "./orm.ts";

/**
 * A PostgreSQL database: a server through postgres.js, or PGlite in this process (OP-11).
 *
 * Each call names its `operation` for metrics, such as `select_member`. The name never contains an id.
 * Methods reject with `StoreUnavailable` if the database is unreachable, refuses connections or does not answer
 * before the deadline of the call. Constraint violations keep their SQLSTATE; see `sqlState`.
 *
 * Code inside a transaction must use only its `tx`: `run`, `transaction` and `stream` throw there.
 */
export interface Database {
  /**
   * Runs `work` on any connection, outside of a transaction. This method is meant for reads and idempotent
   * statements, because `work` can be retried once after a lost connection. Work that locks something names
   * its lane. Work with a lane counts as a writer, and is retried after a conflict like a transaction.
   */
  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options?: RunOptions): Promise<T>;
  /**
   * Runs `work` in one transaction: commits if it resolves, rolls back if it rejects. `work` must have no effect
   * outside of the transaction, because it can be retried from the start. Up to five retries follow a serialization
   * failure or a deadlock. One retry follows a connection that is lost before the commit. Writing transactions never
   * use all connections of a server.
   */
  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Yields rows in batches from a server-side cursor, for exports of any size. All rows come from one
   * snapshot, and each batch is read on demand. On a server, the stream holds one connection until it ends,
   * and a consumer that pauses for more than a minute loses the stream.
   */
  stream<Row>(operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]>;
  /**
   * Applies the SQL migrations of a folder under `drizzle/`. A lock on the database allows replicas to start
   * at the same time. The journal is in the database schema `schema`. Rejects if a migration was edited after
   * it was applied. Returns the number of applied migrations that are not in the folder, because a newer
   * version of Ostiary added them.
   */
  migrate(schema: string, folder: string): Promise<number>;
  /** Resolves if the database responds within `timeoutMs`. Otherwise rejects with `StoreUnavailable`. */
  ping(timeoutMs: number): Promise<void>;
  /** Returns a view for work for which nobody waits: its calls have a deadline of progress. */
  inBackground(): Database;
  /**
   * Returns a view of the same database for another service of this process, with its own name in metrics.
   * Closing a view does nothing. Closing the original database closes all its views.
   */
  scoped(namespace: string, observer: StoreObserver): Database;
  close(): Promise<void>;
}

export interface CallOptions {
  /**
   * The time after which the call is cancelled and fails with `StoreUnavailable`. `"progress"` limits the time
   * to each answer of the server instead, for work that may take long.
   */
  deadlineMs?: number | "progress";
}

export interface RunOptions extends CallOptions {
  /**
   * The lock for which this work may wait, such as the id of an organization whose row the work locks. Work
   * in the same lane uses only a small part of the connections; further work queues in this process, first
   * in, first out. If the queue is full, work is rejected immediately with `StoreUnavailable`. Therefore a
   * queue for one lock does not block other work.
   */
  lane?: string;
}

export interface TransactionOptions extends RunOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  readOnly?: boolean;
}
