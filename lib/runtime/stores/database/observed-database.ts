import { AsyncLocalStorage } from "node:async_hooks";
import type { SQL } from "drizzle-orm";
import { pause, systemClock } from "../../../async/index.ts";
import { observed, type StoreObserver } from "../observer.ts";
import type { CallOptions, Database, RunOptions, TransactionOptions } from "./database.ts";
import type { Deadline } from "./deadline.ts";
import { sqlState, withoutStatement } from "./failure.ts";
import { applyMigrations, type MigrationAccess } from "./migrations.ts";
import type { Orm } from "./orm.ts";

/** The operations that a server and PGlite implement differently. */
export interface DatabaseAdapter {
  deadline(options: RunOptions): Deadline;
  run<T>(deadline: Deadline, work: (orm: Orm) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction, without retries after conflicts. */
  transact<T>(deadline: Deadline, work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T>;
  /** Runs `work`, with all its retries, once the limits on connections and lanes allow more work. */
  inTurn<T>(deadline: Deadline, options: TransactionOptions, work: () => Promise<T>): Promise<T>;
  stream<Row>(database: Database, operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]>;
  readonly migrations: MigrationAccess;
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** The logic that both adapters share; `Database` documents its methods. */
export class ObservedDatabase implements Database {
  readonly #adapter: DatabaseAdapter;
  readonly #view: View;
  readonly close: () => Promise<void>;

  constructor(adapter: DatabaseAdapter, view: View, close = () => adapter.close()) {
    this.#adapter = adapter;
    this.#view = view;
    this.close = close;
  }

  scoped(namespace: string, observer: StoreObserver): Database {
    return this.#viewWith({ namespace, observer });
  }

  inBackground(): Database {
    return this.#viewWith({ deadlineMs: "progress" });
  }

  run<T>(operation: string, work: (orm: Orm) => Promise<T>, options: RunOptions = {}): Promise<T> {
    return this.#call(operation, options, (deadline) => {
      if (options.lane === undefined) return this.#adapter.run(deadline, work);
      const attempt = () => this.#adapter.run(deadline, work);
      return this.#adapter.inTurn(deadline, options, () => retryConflicts(attempt));
    });
  }

  transaction<T>(
    operation: string,
    work: (tx: Orm) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const { unit } = this.#view;
    return this.#call(operation, options, (deadline) => {
      const attempt = () => this.#adapter.transact(deadline, (tx) => unit.enter(() => work(tx)), options);
      return this.#adapter.inTurn(deadline, options, () => retryConflicts(attempt));
    });
  }

  stream<Row>(operation: string, statement: SQL, batchRows: number): AsyncIterable<Row[]> {
    return this.#adapter.stream<Row>(this, operation, statement, batchRows);
  }

  migrate(schema: string, folder: string): Promise<number> {
    return this.#observed("migrate", () => applyMigrations(this.#adapter.migrations, schema, folder));
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#adapter.ping(timeoutMs);
  }

  #viewWith(changes: Partial<View>): Database {
    return new ObservedDatabase(this.#adapter, { ...this.#view, ...changes }, async () => {});
  }

  #call<T>(operation: string, options: RunOptions, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    return this.#observed(operation, async () => {
      this.#view.unit.refuseNesting();
      const { deadlineMs = this.#view.deadlineMs, lane } = options;
      const deadline = this.#adapter.deadline({ deadlineMs, lane });
      return work(deadline).finally(() => deadline.end());
    });
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const { observer, namespace } = this.#view;
    return observed(observer, { system: "postgresql", operation, namespace }, async () => {
      try {
        return await work();
      } catch (error) {
        throw withoutStatement(operation, error);
      }
    });
  }
}

export interface View extends CallOptions {
  /** The name of the database in metrics: the database schema in which the service works. */
  readonly namespace: string;
  readonly observer: StoreObserver;
  readonly unit: UnitOfWork;
}

/**
 * Refuses nested calls. Inside a transaction, a call on the database would use another connection: it would not see the
 * transaction's writes, and would wait forever for an embedded database or a full pool.
 */
export class UnitOfWork {
  readonly #current = new AsyncLocalStorage<{ open: boolean }>();

  async enter<T>(work: () => Promise<T>): Promise<T> {
    const unit = { open: true };
    try {
      return await this.#current.run(unit, work);
    } finally {
      // Background work can outlive the transaction and still have this context.
      unit.open = false;
    }
  }

  refuseNesting(): void {
    if (this.#current.getStore()?.open) {
      throw new Error("Inside a transaction use its own `tx`, not the database.");
    }
  }
}

const RETRIES_MAX = 5;
const PAUSE_MS = 10;
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";

/** Retries `attempt` after a serialization failure or a deadlock, with exponential backoff and jitter. */
async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      const state = sqlState(error);
      const conflict = state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
      if (!conflict || retries === RETRIES_MAX) throw error;
      await pause(systemClock, PAUSE_MS * 2 ** retries * Math.random());
    }
  }
}
