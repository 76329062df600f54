import type { SQL } from "drizzle-orm";
import type { StoreObserver } from "../observer.ts";
import type { Orm } from "./orm.ts";

/**
 * A PostgreSQL database: a server reached by postgres.js, or PGlite in this process (contract 1).
 *
 * Each method names its `operation` for metrics (`select_member`; never an id). Rejects with
 * `StoreUnavailable` when the database is unreachable, refuses connections, or does not answer within the
 * adapter's deadline; constraint violations keep their SQLSTATE, see `sqlState`.
 *
 * Inside a transaction only its `tx` may be used: `run`, `transaction` and `stream` throw there.
 */
export interface Database {
  /**
   * Runs `work`, outside a transaction, on any connection: reads, and statements that change nothing when they
   * are done a second time. For it is run again, once, when its connection was lost. One that locks something
   * names its lane: it then is a writer like a transaction, also in what happens after a conflict.
   */
  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options?: RunOptions): Promise<T>;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Retried from the
   * start, at most five times, when PostgreSQL reports a serialization failure or a deadlock, and once when the
   * connection was lost before the commit: `work` must have no effect outside the transaction. Transactions
   * that write never have all connections of a server.
   */
  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * What `rows` gives, in batches from a server-side cursor, as of one moment, for exports of any size.
   * The next batch is read when it is asked for; a consumer that pauses for more than a minute loses the
   * stream. On a server it keeps one connection until its end.
   */
  stream<Row>(operation: string, statement: SQL, batch_rows: number): AsyncIterable<Row[]>;
  /**
   * Applies the SQL migrations of a folder under `drizzle/`, under a database-wide lock, so that replicas may
   * start together. The journal lives in the schema of the same name. Rejects when a migration was edited
   * after it had been applied.
   */
  migrate(schema: string, folder: string): Promise<void>;
  /** Resolves when the database answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  /**
   * A view of the same database for another service of this process, with its own name in metrics. Closing a
   * view does nothing; closing the database that was opened ends all of them.
   */
  scoped(namespace: string, observer: StoreObserver): Database;
  close(): Promise<void>;
}

export interface RunOptions {
  /**
   * What this work may have to wait for others at, such as the id of an organization whose row it
   * locks. Work of one lane have a small part of the connections: more of them wait in this process,
   * first come first served, and beyond a bound are refused with `StoreUnavailable` at once. So a queue at
   * one lock stops nobody who does not need that lock.
   */
  lane?: string;
}

export interface TransactionOptions extends RunOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  read_only?: boolean;
}
