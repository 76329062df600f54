import { withDeadline } from "../../../async/index.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./failure.ts";

/** The error for sessions that cannot serve this process. The message is a sentence of `databaseBootFailure`. */
export class UnusableSession extends Error {}

/** Checks the first session at the start. Behind a pooler, also compares it with another one. */
export async function refuseUnusableSessions(
  first: Connection,
  open: () => Promise<Connection>,
): Promise<void> {
  const { encoding } = first.session;
  if (encoding !== "UTF8") {
    throw new UnusableSession(
      `The database {database} at {server} (DATABASE_URL) has the encoding ${encoding}: create a database with the encoding UTF8.`,
    );
  }
  if (!first.isPooled) return;
  const other = await open();
  try {
    if (!(await areShared(first, other))) return;
    throw new UnusableSession(
      "The pooler at {server} (DATABASE_URL) shares sessions between clients, as in transaction mode: set its pool_mode to session for this database, or name PostgreSQL itself.",
    );
  } finally {
    await other.end();
  }
}

const PROBE_MS = 2_000;
/** Other clients of the pooler make its choices random. */
const ROUNDS = 5;

/**
 * Returns whether a pooler shares server sessions between clients. A pooler that prefers the latest session gives both
 * clients the same one, and a pooler that takes turns gives one client two. No other connection may be opened now.
 */
async function areShared(one: Connection, other: Connection): Promise<boolean> {
  if (one.session.pid === other.session.pid) return true;
  for (let round = 0; round < ROUNDS; round++) {
    for (const connection of [one, one, other, other]) {
      if ((await pidOf(connection)) !== connection.session.pid) return true;
    }
  }
  return false;
}

async function pidOf(connection: Connection): Promise<number | undefined> {
  const result = connection.send<{ pid: number }>({ text: "select pg_backend_pid() as pid" });
  const [row] = await withDeadline(result, PROBE_MS, () => new ConnectionLost("The pooler did not respond."));
  return row?.pid;
}
