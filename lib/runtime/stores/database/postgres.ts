import { type SQL, sql } from "drizzle-orm";
import { PgDatabase } from "drizzle-orm/pg-core";
import { PostgresJsSession } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import type { Database, TransactionOptions } from "./database.ts";
import { isConnectionLost } from "./failure.ts";
import type { MigrationAccess } from "./migrations.ts";
import type { DatabaseAdapter } from "./observed-database.ts";
import { asOrm, asSql, type Orm, rows } from "./orm.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { dialect } from "./prepared.ts";
import { streamCursor } from "./stream-cursor.ts";
import type { Watchdog } from "./watchdog.ts";

/**
 * The maximum number of parameters in a prepared statement. Statements with more parameters have a different
 * text for each number of rows, so preparing them only fills memory.
 */
const PREPARED_PARAMETERS_MAX = 64;
/** The statement timeout of migrations, which may rebuild a table. */
const MIGRATION_STATEMENT_MS = 600_000;
/** The statement timeout of an index build, which does not block writers. */
const BUILD_MS = 3_600_000;

/** Sets the timeouts of a migration's transaction. 0 means no timeout. */
const setTimeouts = (statementMs: number, lockMs: number) => sql`
  select set_config('statement_timeout', ${String(statementMs)}, true),
    set_config('lock_timeout', ${String(lockMs)}, true)`;

/** A PostgreSQL server through postgres.js. `PostgresPool` implements limits and recovery. */
export class PostgresAdapter implements DatabaseAdapter {
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  run<T>(work: (orm: Orm) => Promise<T>): Promise<T> {
    return this.#pool.use((sql, watchdog) => work(ormOver(sql, watchdog)));
  }

  transact<T>(work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.#pool.use((sql, watchdog) => transact(sql, watchdog, work, options));
  }

  inTurn<T>({ lane, readOnly }: TransactionOptions, work: () => Promise<T>): Promise<T> {
    return readOnly ? work() : this.#pool.writing(lane, work);
  }

  async *stream<Row>(
    database: Database,
    operation: string,
    statement: SQL,
    batchRows: number,
  ): AsyncGenerator<Row[], void, void> {
    const release = await this.#pool.stream();
    try {
      yield* streamCursor<Row>(database, operation, statement, batchRows);
    } finally {
      release();
    }
  }

  get migrations(): MigrationAccess {
    return {
      transaction: (work, lockMs) => this.#migrate(work, lockMs),
      outside: (work) => this.#pool.use((sql, watchdog) => outside(sql, watchdog, work), BUILD_MS),
    };
  }

  #migrate<T>(work: (tx: Orm) => Promise<T>, lockMs = 0): Promise<T> {
    const migrate = async (tx: Orm) => {
      await rows(tx, setTimeouts(MIGRATION_STATEMENT_MS, lockMs));
      return work(tx);
    };
    return this.#pool.use((sql, watchdog) => transact(sql, watchdog, migrate), MIGRATION_STATEMENT_MS);
  }

  ping(): Promise<unknown> {
    return this.#pool.ping();
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

async function transact<T>(
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
      const [outcome] = await Promise.allSettled([work(ormOver(tx, watchdog))]);
      if (watchdog.lost) return neverSettled;
      if (outcome.status === "fulfilled") {
        answered = options.readOnly ? watchdog.ask() : watchdog.askToCommit();
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

/**
 * Runs `work` on one connection outside of a transaction, with a long statement timeout. Afterwards resets the
 * timeout of the session and releases its advisory locks, unless the connection is lost: the driver would wait for a
 * response forever.
 */
async function outside<T>(
  client: postgres.Sql,
  watchdog: Watchdog,
  work: (orm: Orm) => Promise<T>,
): Promise<T> {
  // `reserve` never resolves while the driver has no open connection, so first open one.
  await watchdog.follow(() => client.unsafe("select 1"));
  const reserved = await client.reserve();
  const orm = ormOver(reserved, watchdog);
  try {
    await rows(orm, sql`select set_config('statement_timeout', ${String(BUILD_MS)}, false)`);
    return await work(orm);
  } catch (error) {
    if (isConnectionLost(error)) watchdog.lose();
    throw error;
  } finally {
    if (!watchdog.lost) {
      await rows(orm, sql`reset statement_timeout`);
      await rows(orm, sql`select pg_advisory_unlock_all()`);
      reserved.release();
    }
  }
}

/**
 * The promise that the callback of a transaction returns after its connection is lost. The driver has already
 * rejected the transaction. A settled promise would make the driver write COMMIT or ROLLBACK to a missing
 * socket, which ends the process.
 */
const neverSettled = new Promise<never>(() => {});

function transactionMode({ isolation, readOnly }: TransactionOptions): string {
  return `${isolation ? `isolation level ${isolation}` : ""} ${readOnly ? "read only" : ""}`;
}

type Client = postgres.Sql | postgres.TransactionSql;

function ormOver(sql: Client, watchdog: Watchdog): Orm {
  const session = new PostgresJsSession(asSql(watched(sql, watchdog)), dialect, undefined);
  return asOrm(new PgDatabase(dialect, session, undefined));
}

function sizeOf(parameters: readonly unknown[]): number {
  let size = 0;
  for (const parameter of parameters) if (typeof parameter === "string") size += parameter.length;
  return size;
}

/** Returns the methods of postgres.js that drizzle calls. The watchdog follows every statement. */
function watched(sql: Client, watchdog: Watchdog) {
  const savepoint = <T>(work: (inner: postgres.Sql) => Promise<T>) => {
    if (!("savepoint" in sql)) throw new Error("Open transactions with Database.transaction.");
    return sql.savepoint((inner) => work(asSql(watched(inner, watchdog))));
  };
  return {
    unsafe(query: string, parameters: postgres.ParameterOrJSON<never>[] = []) {
      const prepare = parameters.length <= PREPARED_PARAMETERS_MAX;
      return watchdog.follow(() => sql.unsafe(query, parameters, { prepare }), sizeOf(parameters));
    },
    begin: savepoint,
    savepoint,
  };
}
