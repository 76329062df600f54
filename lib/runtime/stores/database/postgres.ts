import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { answerWithin } from "../deadline.ts";
import { observed } from "../observed.ts";
import type { StoreObserver } from "../observer.ts";
import type { Database, TransactionOptions } from "./database.ts";
import { isConnectionLost } from "./failure.ts";
import { applyMigrations } from "./migrations.ts";
import { asOrm, asSql, type Orm, rows } from "./orm.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { retryConflicts } from "./retry-conflicts.ts";
import { streamCursor } from "./stream-cursor.ts";
import { UnitOfWork } from "./unit-of-work.ts";
import type { Watchdog } from "./watchdog.ts";

/** Statements of more parameters have a text that varies with their rows: preparing them only fills memory. */
const PREPARED_PARAMETERS_MAX = 64;
/** A migration may rebuild a table. */
const MIGRATION_STATEMENT_MS = 600_000;
const longStatements = sql.raw(`set local statement_timeout = ${MIGRATION_STATEMENT_MS}`);

/** A server, by postgres.js: see `PostgresPool` for limits and recovery. */
export class PostgresDatabase implements Database {
  readonly #pool: PostgresPool;
  readonly #namespace: string;
  readonly #observer: StoreObserver;
  readonly #close: () => Promise<void>;
  readonly #unit = new UnitOfWork();

  constructor(pool: PostgresPool, namespace: string, observer: StoreObserver, close = () => pool.close()) {
    this.#pool = pool;
    this.#namespace = namespace;
    this.#observer = observer;
    this.#close = close;
  }

  scoped(namespace: string, observer: StoreObserver): Database {
    return new PostgresDatabase(this.#pool, namespace, observer, async () => {});
  }

  run<T>(operation: string, work: (orm: Orm) => Promise<T>): Promise<T> {
    return this.#observed(operation, () => {
      this.#unit.refuseNesting();
      return this.#pool.use((sql, watchdog) => work(ormOver(sql, watchdog)));
    });
  }

  transaction<T>(operation: string, work: (tx: Orm) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#observed(operation, () => {
      this.#unit.refuseNesting();
      const transact = () =>
        retryConflicts(() => this.#pool.use((sql, watchdog) => this.#transact(sql, watchdog, work, options)));
      return options?.read_only ? transact() : this.#pool.writing(options?.lane, transact);
    });
  }

  async *stream<Row>(
    operation: string,
    statement: SQL,
    batch_rows: number,
  ): AsyncGenerator<Row[], void, void> {
    const release = await this.#pool.stream();
    try {
      yield* streamCursor<Row>(this, operation, statement, batch_rows);
    } finally {
      release();
    }
  }

  migrate(schema: string, folder: string): Promise<void> {
    return this.#observed("migrate", () =>
      this.#pool.use(async (sql, watchdog) => {
        const migrate = async (tx: Orm) => {
          await rows(tx, longStatements);
          await applyMigrations(tx, schema, folder);
        };
        await this.#transact(sql, watchdog, migrate);
      }, MIGRATION_STATEMENT_MS),
    );
  }

  async ping(timeout_ms: number): Promise<void> {
    await answerWithin(timeout_ms, "database", this.#pool.ping());
  }

  close(): Promise<void> {
    return this.#close();
  }

  #observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return observed(this.#observer, { system: "postgresql", operation, namespace: this.#namespace }, work);
  }

  async #transact<T>(
    sql: postgres.Sql,
    watchdog: Watchdog,
    work: (tx: Orm) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    let answered = watchdog.ask();
    let failed: PromiseRejectedResult | undefined;
    try {
      const committed = await sql.begin(transactionMode(options), async (tx) => {
        answered();
        const [outcome] = await Promise.allSettled([this.#unit.enter(() => work(ormOver(tx, watchdog)))]);
        if (watchdog.lost) return neverSettled;
        if (outcome.status === "fulfilled") {
          answered = options.read_only ? watchdog.ask() : watchdog.askToCommit();
          return { result: outcome.value };
        }
        answered = watchdog.ask();
        failed = outcome;
        throw outcome.reason;
      });
      return committed.result;
    } catch (error) {
      if (error !== failed?.reason && isConnectionLost(error)) watchdog.lose();
      throw error;
    } finally {
      answered();
      watchdog.end();
    }
  }
}

/**
 * Given to postgres.js by a transaction whose connection is gone: it has rejected the transaction already, and
 * would write its COMMIT or ROLLBACK to a socket that is not there, which ends the process.
 */
const neverSettled = new Promise<never>(() => {});

function transactionMode({ isolation, read_only }: TransactionOptions): string {
  return `${isolation ? `isolation level ${isolation}` : ""} ${read_only ? "read only" : ""}`;
}

type Client = postgres.Sql | postgres.TransactionSql;

function ormOver(sql: Client, watchdog: Watchdog): Orm {
  return asOrm(drizzle(asSql(watched(sql, watchdog))));
}

function sizeOf(parameters: readonly unknown[]): number {
  let size = 0;
  for (const parameter of parameters) if (typeof parameter === "string") size += parameter.length;
  return size;
}

/** The part of postgres.js that drizzle calls, with every statement under the watchdog's eyes. */
function watched(sql: Client, watchdog: Watchdog) {
  const savepoint = <T>(work: (inner: postgres.Sql) => Promise<T>) => {
    if (!("savepoint" in sql)) throw new Error("Open transactions with Database.transaction.");
    return sql.savepoint((inner) => work(asSql(watched(inner, watchdog))));
  };
  return {
    // drizzle writes its own parsers here; the connections have theirs already
    options: { parsers: {}, serializers: {} },
    unsafe(query: string, parameters: postgres.ParameterOrJSON<never>[] = []) {
      const prepare = parameters.length <= PREPARED_PARAMETERS_MAX;
      return watchdog.follow(() => sql.unsafe(query, parameters, { prepare }), sizeOf(parameters));
    },
    begin: savepoint,
    savepoint,
  };
}
