import type { SQL } from "drizzle-orm";
import type { StoreObserver } from "../observer.ts";
import type { Orm } from "./orm.ts";

/**
 * A PostgreSQL database: a server through postgres.js, or PGlite in this process (OP-11).
 *
 * Each call names its `operation` for metrics, such as `select_member`. The name never contains an id.
 * Methods reject with `StoreUnavailable` if the database is unreachable, refuses connections or does not respond
 * before the deadline of the call. Constraint violations keep their SQLSTATE; see `sqlState`.
 *
 * Code inside a transaction must use only its `tx`: `run`, `transaction` and `stream` throw there.
 */
export interface Database {
  /**
   * Runs `work` on any connection, outside of a transaction. `work` is a read or idempotent, because it can be repeated
   * once after a lost connection. Work with a lane counts as a writer, and is retried after a conflict.
   */
  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options?: RunOptions): Promise<T>;
  /**
   * Runs `work` in one transaction. `work` has no effect outside of the transaction, because it can be repeated from
   * the start: up to five times after a conflict, and once after a connection was lost before the commit.
   */
  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Yields rows from a server-side cursor. All rows come from one snapshot, and each batch is read on demand. A
   * consumer that pauses for more than a minute loses the stream.
   */
  stream<Row>(operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]>;
  /**
   * Applies the SQL migrations of a folder under `drizzle/` to the database schema `schema`. Returns the number of
   * applied migrations that are not in the folder, because a newer version of Ostiary added them.
   */
  migrate(schema: string, folder: string): Promise<number>;
  ping(timeoutMs: number): Promise<void>;
  /** Returns a view for work for which nobody waits: its calls have a deadline of progress. */
  inBackground(): Database;
  /** Returns a view for another service of this process, with its own name in metrics. Closing a view does nothing. */
  scoped(namespace: string, observer: StoreObserver): Database;
  close(): Promise<void>;
}

export interface CallOptions {
  /** The time after which the call fails. `"progress"` limits the time to each response instead. */
  deadlineMs?: number | "progress";
}

export interface RunOptions extends CallOptions {
  /**
   * The lock for which this work may wait, such as an organization's id. Work in one lane uses a small part of the
   * connections, and further work queues. If the queue is full, work is rejected with `StoreUnavailable`.
   */
  lane?: string;
}

export interface TransactionOptions extends RunOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  readOnly?: boolean;
}
