import type postgres from "postgres";
import { systemClock } from "../../../async/index.ts";
import { backendPidOf, type Question } from "./watchdog.ts";

/** The time after which a quick command counts as lost if its server process is unknown. */
const QUICK_MS = 1_000;
/** The assumed maximum time between the first and the last byte of a statement that a server process reads. */
const READING_MS = 2_000;
/**
 * The assumed transfer speed of a statement's parameters. While a server process receives them, it looks
 * idle. The transfer time therefore does not count as silence.
 */
const BYTES_PER_MS = 1_000;

/** The server's report about a process that serves a connection. */
interface Backend {
  state: string | null;
  /** The time of the last state change. */
  changed: string;
  /** Whether the process waits for more bytes from the client. */
  reads: boolean;
}

/** The server processes that serve connections with one application name, by process id. */
export type Backends = ReadonlyMap<number, Backend>;

interface BackendRow extends Omit<Backend, "reads"> {
  pid: number;
  wait_event: string | null;
  self: boolean;
}

/**
 * Returns the server processes that serve connections with the application name `name`. The query must use a
 * separate connection. Returns null if the result cannot be trusted: a pooler reports other processes, or the
 * role cannot see its own sessions.
 */
export async function readBackends(sql: postgres.Sql, name: string): Promise<Backends | null> {
  const query = sql.unsafe<BackendRow[]>(
    `select pid, state, state_change::text as changed, wait_event, pid = pg_backend_pid() as self
     from pg_stat_activity where application_name = '${name}' or pid = pg_backend_pid()`,
  );
  const rows = await query;
  const self = rows.find((row) => row.self);
  if (self?.state !== "active" || self.pid !== backendPidOf(query)) return null;
  return new Map(
    rows.map(({ pid, state, changed, wait_event }) => [
      pid,
      { state, changed, reads: wait_event === "ClientRead" },
    ]),
  );
}

/**
 * Returns whether the response to `question` can no longer arrive: both observations lack its server process, or the
 * process and the client wait for each other. A process that works or waits for a lock is only slow.
 */
export function isUnanswerable(question: Question, before: Backends, now: Backends): boolean {
  const silentMs = systemClock.elapsedMs() - question.askedAt - question.sizeBytes / BYTES_PER_MS;
  if (silentMs <= 0) return false;
  const pid = question.backendPid();
  if (pid === undefined) return question.quick && silentMs >= QUICK_MS;
  const [first, second] = [before.get(pid), now.get(pid)];
  if (second === undefined) return first === undefined;
  if (first?.changed !== second.changed) return false;
  if (second.state?.startsWith("idle")) return true;
  return second.state === "active" && first.reads && second.reads && silentMs >= READING_MS;
}

/**
 * Ends the server processes that serve connections with this application name: all of them, or only `pids`.
 * Otherwise, these processes would hold locks and connection slots until the server notices the lost clients,
 * which can take hours.
 */
export async function endBackends(sql: postgres.Sql, name: string, pids?: readonly number[]): Promise<void> {
  if (pids?.length === 0) return;
  const which = pids === undefined ? "" : ` and pid in (${pids.join()})`;
  await sql.unsafe(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'${which}`,
  );
}
