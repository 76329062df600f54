import type { SQL } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";

/** Drizzle's query builder, the same for a pool, a transaction, PostgreSQL and PGlite. */
export type Orm = PgDatabase<PgQueryResultHKT, Record<string, never>>;

/**
 * A PostgreSQL database: a server reached by postgres.js, or PGlite in this process (contract 1).
 *
 * Each method names its `operation` for metrics (`select_member`; never an id). Rejects with
 * `StoreUnavailable` when the database is unreachable, refuses connections, or does not answer within the
 * adapter's deadline; constraint violations keep their SQLSTATE, see `sqlState`.
 */
export interface Database {
  /** Runs `work` on any connection. */
  run<T>(operation: string, work: (orm: Orm) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Retried from the
   * start, at most five times, when PostgreSQL reports a serialization failure or a deadlock: `work` must
   * have no effect outside the transaction.
   */
  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Rows of a raw statement, the same shape on both adapters; the caller names the row type it selects. */
  rows<Row extends Record<string, unknown>>(orm: Orm, statement: SQL): Promise<Row[]>;
  /** Rows of a raw statement in batches from a server-side cursor, for exports of any size. */
  stream<Row extends Record<string, unknown>>(
    operation: string,
    statement: SQL,
    batch_rows: number,
  ): AsyncIterable<Row[]>;
  /**
   * Applies the SQL migrations of a folder under `drizzle/`, under a database-wide lock, so that replicas may
   * start together. The journal lives in the schema of the same name.
   */
  migrate(schema: string, folder: string): Promise<void>;
  /** Resolves when the database answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  read_only?: boolean;
}
