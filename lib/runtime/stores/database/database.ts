import type { SQL } from "drizzle-orm";
import type { StoreObserver } from "../observer.ts";
import type { Orm } from "./orm.ts";

/**
 * A PostgreSQL database: a server reached by postgres.js, or PGlite in this process (OP-11).
 *
 * Each method names its `operation` for metrics (`select_member`; never an id). Methods reject with
 * `StoreUnavailable` when the database is unreachable, refuses connections or exceeds the adapter's timeout.
 * Constraint violations keep their SQLSTATE, see `sqlState`.
 *
 * Inside a transaction only its `tx` may be used: `run`, `transaction` and `stream` throw there.
 */
export interface Database {
  /**
   * Runs `work` on any connection, outside a transaction. Use it for reads and idempotent statements, because
   * a lost connection can cause one retry. Work that locks something names its lane. Work with a lane counts as a
   * writer and is retried after a conflict, like a transaction.
   */
  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options?: RunOptions): Promise<T>;
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it rejects. `work` must have no
   * effect outside the transaction, because it is retried from the start. A serialization failure or a
   * deadlock causes at most five retries. A connection lost before the commit can cause one retry. Writing
   * transactions never use all connections of a server.
   */
  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Yields rows in batches from a server-side cursor, as of one moment, for exports of any size. Each batch
   * is read on demand. On a server the stream holds one connection until its end. A consumer that pauses
   * there for more than a minute loses the stream.
   */
  stream<Row>(operation: string, statement: SQL, batch_rows: number): AsyncIterable<Row[]>;
  /**
   * Applies the SQL migrations of a folder under `drizzle/`. A database-wide lock lets replicas start
   * together. The journal is in the schema of the same name. Rejects when a migration was edited after it had
   * been applied. Returns the number of applied migrations that the folder lacks: those of a newer version.
   */
  migrate(schema: string, folder: string): Promise<number>;
  /** Resolves if the database answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  /**
   * Returns a view of the same database for another service of this process, with its own name in metrics.
   * Closing a view does nothing. Closing the original database closes all its views.
   */
  scoped(namespace: string, observer: StoreObserver): Database;
  close(): Promise<void>;
}

export interface RunOptions {
  /**
   * The lock that this work may wait for, such as the id of an organization whose row it locks. Work of one
   * lane uses a small part of the connections. Further work waits in this process, first come, first served.
   * Beyond a limit, work is refused at once with `StoreUnavailable`. A queue for one lock thus does not block
   * other work.
   */
  lane?: string;
}

export interface TransactionOptions extends RunOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  read_only?: boolean;
}
