import type { SQL } from "drizzle-orm";
import { answerWithin } from "../answer-within.ts";
import { observed, type StoreObserver } from "../observer.ts";
import type { Database, RunOptions, TransactionOptions } from "./database.ts";
import { applyMigrations, type MigrationAccess } from "./migrations.ts";
import type { Orm } from "./orm.ts";
import { withoutStatement } from "./query-failed.ts";
import { retryConflicts } from "./retry-conflicts.ts";
import { UnitOfWork } from "./unit-of-work.ts";

/** The operations that a server and PGlite implement differently. */
export interface DatabaseAdapter {
  /** Runs `work` outside of a transaction. */
  run<T>(work: (orm: Orm) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction, without retries. */
  transact<T>(work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T>;
  /**
   * Waits until the limits on connections and lanes allow more work, and then runs `work`. `work` includes
   * all retries.
   */
  inTurn<T>(options: TransactionOptions, work: () => Promise<T>): Promise<T>;
  /** Implements `Database.stream` by calling methods of `database`. */
  stream<Row>(database: Database, operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]>;
  readonly migrations: MigrationAccess;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * A database with a name for metrics. It contains the logic that all adapters share; `Database` documents its
 * methods.
 */
export class ObservedDatabase implements Database {
  readonly #adapter: DatabaseAdapter;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #unit: UnitOfWork;
  readonly close: () => Promise<void>;

  constructor(
    adapter: DatabaseAdapter,
    namespace: string,
    observer: StoreObserver,
    unit = new UnitOfWork(),
    close = () => adapter.close(),
  ) {
    this.#adapter = adapter;
    this.#namespace = namespace;
    this.#observer = observer;
    this.#unit = unit;
    this.close = close;
  }

  scoped(namespace: string, observer: StoreObserver): Database {
    return new ObservedDatabase(this.#adapter, namespace, observer, this.#unit, async () => {});
  }

  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options: RunOptions = {}): Promise<T> {
    return this.#observed(operation, () => {
      this.#unit.refuseNesting();
      if (options.lane === undefined) return this.#adapter.run(work);
      return this.#adapter.inTurn(options, () => retryConflicts(() => this.#adapter.run(work)));
    });
  }

  transaction<T>(
    operation: string,
    work: (tx: Orm) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const attempt = () => this.#adapter.transact((tx) => this.#unit.enter(() => work(tx)), options);
    return this.#observed(operation, () => {
      this.#unit.refuseNesting();
      return this.#adapter.inTurn(options, () => retryConflicts(attempt));
    });
  }

  stream<Row>(operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]> {
    return this.#adapter.stream<Row>(this, operation, statement, batchRows);
  }

  migrate(schema: string, folder: string): Promise<number> {
    return this.#observed("migrate", () => applyMigrations(this.#adapter.migrations, schema, folder));
  }

  async ping(timeoutMs: number): Promise<void> {
    await answerWithin(timeoutMs, "database", this.#adapter.ping());
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const name = { system: "postgresql", operation, namespace: this.#namespace };
    return observed(this.#observer, name, async () => {
      try {
        return await work();
      } catch (error) {
        throw withoutStatement(operation, error);
      }
    });
  }
}
