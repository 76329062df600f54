import { type SQL, sql } from "drizzle-orm";
import { PgDatabase } from "drizzle-orm/pg-core";
import { PostgresJsSession } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import type { Answer, Connection, Statement } from "./connection.ts";
import type { Database, RunOptions, TransactionOptions } from "./database.ts";
import { Deadline } from "./deadline.ts";
import { ConnectionLost, isRepeatable } from "./failure.ts";
import type { MigrationAccess } from "./migrations.ts";
import type { DatabaseAdapter } from "./observed-database.ts";
import { asOrm, asSql, type Orm, rows } from "./orm.ts";
import type { PostgresPool } from "./postgres-pool.ts";
import { dialect } from "./prepared.ts";
import { streamCursor } from "./stream-cursor.ts";

/** Statements with more parameters have a text for each number of rows, so preparing them only fills memory. */
const PREPARED_PARAMETERS_MAX = 64;
/** The time for each statement of a migration, which may rebuild a table. */
const MIGRATION_STATEMENT_MS = 600_000;
/** The time for an index build, which does not block writers. */
const BUILD_MS = 3_600_000;

export class PostgresAdapter implements DatabaseAdapter {
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  deadline({ deadlineMs, lane }: RunOptions): Deadline {
    return lane === undefined ? this.#pool.deadline(deadlineMs) : this.#pool.laneDeadline(deadlineMs);
  }

  run<T>(deadline: Deadline, work: (orm: Orm) => Promise<T>): Promise<T> {
    return this.#use(deadline, (unit) => work(ormOver(unit)));
  }

  transact<T>(deadline: Deadline, work: (tx: Orm) => Promise<T>, options: TransactionOptions): Promise<T> {
    return this.#use(deadline, (unit) => transact(unit, work, options));
  }

  inTurn<T>(deadline: Deadline, { lane, readOnly }: TransactionOptions, work: () => Promise<T>): Promise<T> {
    return readOnly ? work() : this.#pool.writing(deadline, lane, work);
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
      transaction: (work, lockMs = 0) =>
        this.#use(new Deadline({ ms: MIGRATION_STATEMENT_MS, ofProgress: true }), (unit) =>
          transact(unit, async (tx) => {
            await rows(tx, setTimeouts(MIGRATION_STATEMENT_MS, lockMs, true));
            return work(tx);
          }),
        ),
      outside: (work) =>
        this.#use(new Deadline({ ms: BUILD_MS, ofProgress: true }), async (unit) => {
          const orm = ormOver(unit);
          try {
            await rows(orm, setTimeouts(BUILD_MS, 0, false));
            return await work(orm);
          } finally {
            // The end of the session resets its settings, and releases its advisory locks.
            await unit.connection.end();
          }
        }),
    };
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#pool.ping(timeoutMs);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #use<T>(deadline: Deadline, work: (unit: Unit) => Promise<T>): Promise<T> {
    return this.#pool.use(deadline, async (connection) => {
      const unit = { connection, deadline, hasEnded: false };
      try {
        return await work(unit);
      } finally {
        unit.hasEnded = true;
      }
    });
  }
}

const setTimeouts = (statementMs: number, lockMs: number, isLocal: boolean) => sql`
  select set_config('statement_timeout', ${String(statementMs)}, ${isLocal}),
    set_config('lock_timeout', ${String(lockMs)}, ${isLocal})`;

interface Unit {
  readonly connection: Connection;
  readonly deadline: Deadline;
  hasEnded: boolean;
}

async function send<Row>(unit: Unit, statement: Statement): Promise<Answer<Row>> {
  if (unit.hasEnded) throw new Error("A statement was sent after its unit of work had ended.");
  unit.deadline.asked();
  try {
    return await unit.connection.send<Row>(statement);
  } finally {
    unit.deadline.answered();
  }
}

async function transact<T>(
  unit: Unit,
  work: (tx: Orm) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  await send(unit, { text: `begin ${modeOf(options)}` });
  let result: T;
  try {
    result = await work(ormOver(unit));
  } catch (error) {
    await send(unit, { text: "rollback" }).catch(() => unit.connection.discard());
    throw error;
  }
  await commit(unit, options);
  return result;
}

/**
 * Commits. PostgreSQL answers COMMIT with ROLLBACK after a failed statement, or when a pooler sent the COMMIT to
 * another session. The driver takes both for success. Throws a ConnectionLost that is not repeatable if the outcome is
 * unknown.
 */
async function commit(unit: Unit, { readOnly = false }: TransactionOptions): Promise<void> {
  const { command } = await send(unit, { text: "commit" }).catch((cause) => {
    throw isRepeatable(cause) && !readOnly
      ? new ConnectionLost("The connection was lost during COMMIT.", { cause, isRepeatable: false })
      : cause;
  });
  if (command === "COMMIT") return;
  unit.connection.discard();
  throw new ConnectionLost(`COMMIT was answered with ${command}.`, { isRepeatable: false });
}

function modeOf({ isolation, readOnly }: TransactionOptions): string {
  return `${isolation ? `isolation level ${isolation}` : ""} ${readOnly ? "read only" : ""}`;
}

function ormOver(unit: Unit): Orm {
  const session = new PostgresJsSession(asSql(clientOf(unit)), dialect, undefined);
  return asOrm(new PgDatabase(dialect, session, undefined));
}

function clientOf(unit: Unit) {
  const savepoint = async <T>(work: (inner: postgres.Sql) => Promise<T>) => {
    await send(unit, { text: "savepoint inner_transaction" });
    try {
      return await work(asSql(clientOf(unit)));
    } catch (error) {
      await send(unit, { text: "rollback to inner_transaction" });
      throw error;
    }
  };
  return {
    unsafe(text: string, parameters: postgres.ParameterOrJSON<never>[] = []) {
      const prepare = parameters.length <= PREPARED_PARAMETERS_MAX;
      const statement: Statement = { text, parameters, prepare };
      const answer = send(unit, statement);
      // `values` comes in the same turn, before the statement is sent.
      const values = () => {
        statement.isRaw = true;
        return answer;
      };
      return Object.assign(answer, { values });
    },
    begin: savepoint,
    savepoint,
  };
}
