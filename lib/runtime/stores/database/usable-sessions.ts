import { withDeadline } from "../../../async/index.ts";
import type { Connection } from "./connection.ts";
import { ConnectionLost } from "./failure.ts";

/** The error for sessions that cannot serve this process. `databaseBootFailure` has the sentence for each reason. */
export class UnusableSession extends Error {
  readonly reason: "encoding" | "shared" | "few";
  readonly detail: string;

  constructor(reason: UnusableSession["reason"], detail = "") {
    super(`The session cannot be used: ${reason} ${detail}`);
    this.name = "UnusableSession";
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * Checks the first session of a service at its start. Behind a pooler also opens another one, and compares both.
 *
 * @throws UnusableSession for an encoding other than UTF-8, and for a pooler that shares sessions
 */
export async function refuseUnusableSessions(
  first: Connection,
  open: () => Promise<Connection>,
): Promise<void> {
  const { encoding } = first.session;
  if (encoding !== "UTF8") throw new UnusableSession("encoding", encoding);
  if (!first.isPooled) return;
  const other = await open();
  try {
    if (await areShared(first, other)) throw new UnusableSession("shared");
  } finally {
    await other.end();
  }
}

const PROBE_MS = 2_000;
/** The number of times that each session is asked. Other clients of the pooler make its choices random. */
const ROUNDS = 5;

/**
 * Returns whether a pooler shares server sessions between clients. Each client is asked twice in a row. A pooler
 * that prefers the session of the latest statement gives both clients the same session. A pooler that takes turns
 * gives one client two sessions. The process must open no other connections during these questions.
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
  const answer = connection.send<{ pid: number }>({ text: "select pg_backend_pid() as pid" });
  const [row] = await withDeadline(answer, PROBE_MS, () => new ConnectionLost("The pooler did not answer."));
  return row?.pid;
}
