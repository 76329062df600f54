import { PgDatabase } from "drizzle-orm/pg-core";
import { PostgresJsSession } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import type { Connection, Statement, StatementResult } from "./connection.ts";
import type { TransactionOptions } from "./database.ts";
import type { Deadline } from "./deadline.ts";
import { ConnectionLost, isRepeatable } from "./failure.ts";
import { asOrm, asSql, type Orm } from "./orm.ts";
import { dialect } from "./prepared.ts";

/** Statements with more parameters have a text for each number of rows, so preparing them only fills memory. */
const PREPARED_PARAMETERS_MAX = 64;

/** The work of one call on a connection. */
export interface UnitOfWork {
  readonly connection: Connection;
  readonly deadline: Deadline;
  hasEnded: boolean;
}

export async function asUnitOfWork<T>(
  connection: Connection,
  deadline: Deadline,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const unit = { connection, deadline, hasEnded: false };
  try {
    return await work(unit);
  } finally {
    unit.hasEnded = true;
  }
}

async function send<Row>(unit: UnitOfWork, statement: Statement): Promise<StatementResult<Row>> {
  if (unit.hasEnded) throw new Error("A statement was sent after its unit of work had ended.");
  unit.deadline.asked();
  try {
    return await unit.connection.send<Row>(statement);
  } finally {
    unit.deadline.responded();
  }
}

export async function transact<T>(
  unit: UnitOfWork,
  work: (tx: Orm) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { isolation, readOnly } = options;
  const mode = `${isolation ? `isolation level ${isolation}` : ""} ${readOnly ? "read only" : ""}`;
  await send(unit, { text: `begin ${mode}` });
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
 * Commits. PostgreSQL responds to COMMIT with ROLLBACK after a failed statement, or when a pooler sent the COMMIT to
 * another session. The driver takes both for success. Throws a ConnectionLost that is not repeatable if the outcome is
 * unknown.
 */
async function commit(unit: UnitOfWork, { readOnly = false }: TransactionOptions): Promise<void> {
  const { command } = await send(unit, { text: "commit" }).catch((cause) => {
    throw isRepeatable(cause) && !readOnly
      ? new ConnectionLost("The connection was lost during COMMIT.", { cause, isRepeatable: false })
      : cause;
  });
  if (command === "COMMIT") return;
  unit.connection.discard();
  throw new ConnectionLost(`The server responded to COMMIT with ${command}.`, { isRepeatable: false });
}

export function ormOver(unit: UnitOfWork): Orm {
  const session = new PostgresJsSession(asSql(clientOf(unit)), dialect, undefined);
  return asOrm(new PgDatabase(dialect, session, undefined));
}

function clientOf(unit: UnitOfWork) {
  return {
    unsafe(text: string, parameters: postgres.ParameterOrJSON<never>[] = []) {
      const prepare = parameters.length <= PREPARED_PARAMETERS_MAX;
      const statement: Statement = { text, parameters, prepare };
      const result = send(unit, statement);
      // `values` comes in the same turn, before the statement is sent.
      const values = () => {
        statement.isRaw = true;
        return result;
      };
      return Object.assign(result, { values });
    },
  };
}
