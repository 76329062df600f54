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
 * Checks the first session, and sessions that are being opened, at the start of a service.
 *
 * @throws UnusableSession for an encoding other than UTF-8, and for a pooler that shares sessions or has too few
 */
export async function refuseUnusableSessions(
  first: Connection,
  others: readonly Promise<Connection>[],
  open: () => Promise<Connection>,
): Promise<void> {
  const { encoding } = first.session;
  const opened = Promise.all(others);
  opened.catch(() => {});
  if (encoding !== "UTF8") throw new UnusableSession("encoding", encoding);
  if (!first.isPooled) return;
  try {
    const other = await (others[0] ?? open());
    if (await areShared(first, other)) throw new UnusableSession("shared");
    if (others.length === 0) await other.end();
    await opened;
  } catch (error) {
    throw error instanceof ConnectionLost ? new UnusableSession("few", String(others.length + 1)) : error;
  }
}

const PROBE_MS = 2_000;

/**
 * Returns whether a pooler shares server sessions between clients: the session of one client serves another
 * one, or one client has two sessions, while the other client is in a transaction.
 */
async function areShared(one: Connection, other: Connection): Promise<boolean> {
  const before = await pidOf(one);
  const begun = await within(other.send({ text: "begin" })).then(
    () => true,
    () => false,
  );
  if (!begun) return true;
  const taken = await pidOf(other);
  const after = await pidOf(one).catch(() => null);
  await within(other.send({ text: "rollback" }));
  return taken === before || after !== before;
}

async function pidOf(connection: Connection): Promise<number | undefined> {
  const [row] = await within(connection.send<{ pid: number }>({ text: "select pg_backend_pid() as pid" }));
  return row?.pid;
}

function within<T>(answer: Promise<T>): Promise<T> {
  return withDeadline(answer, PROBE_MS, () => new ConnectionLost("The pooler did not answer."));
}
