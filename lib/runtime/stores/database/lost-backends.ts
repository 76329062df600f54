import type postgres from "postgres";
import { systemClock } from "../../../async/index.ts";
import { backendPid, type Question } from "./watchdog.ts";

/** What takes no time, and was sent by the driver to a process that it does not name, is lost after so long. */
const QUICK_MS = 1_000;
/** A process that has begun to read a statement has read it after so long. */
const READING_MS = 2_000;
/** What parameters of many megabytes travel at over a slow network; a process that waits for them looks idle. */
const BYTES_PER_MS = 1_000;

/** What the server says of one process that serves a connection. */
interface Backend {
  state: string | null;
  /** The last change of the state. */
  changed: string;
  /** It waits for the client's next bytes. */
  reads: boolean;
}

/** The processes that serve the connections of one name, by their ids. */
export type Backends = ReadonlyMap<number, Backend>;

interface BackendRow extends Omit<Backend, "reads"> {
  pid: number;
  wait_event: string | null;
  self: boolean;
}

/**
 * Asks the server which of its processes serve connections of this name, over a connection that is not one of
 * them. Null when it can not be told: behind a pooler, whose connections are served by other processes than
 * they say, or where the role may not see its own sessions.
 */
export async function readBackends(sql: postgres.Sql, name: string): Promise<Backends | null> {
  const query = sql.unsafe<BackendRow[]>(
    `select pid, state, state_change::text as changed, wait_event, pid = pg_backend_pid() as self
     from pg_stat_activity where application_name = '${name}' or pid = pg_backend_pid()`,
  );
  const rows = await query;
  const self = rows.find((row) => row.self);
  if (self?.state !== "active" || self.pid !== backendPid(query)) return null;
  return new Map(
    rows.map(({ pid, state, changed, wait_event }) => [
      pid,
      { state, changed, reads: wait_event === "ClientRead" },
    ]),
  );
}

/**
 * Whether an answer to `question` can no longer come: on two looks, a while apart, the server had no such
 * process, or one that all the time waited for the client, as the client does for it. A process that works,
 * or waits for a lock, is slow and not dead.
 */
export function isUnanswerable(question: Question, before: Backends, now: Backends): boolean {
  const silent_ms = systemClock.elapsed_ms() - question.asked_at - question.size_bytes / BYTES_PER_MS;
  if (silent_ms <= 0) return false;
  const pid = question.backend_pid();
  if (pid === undefined) return question.quick && silent_ms >= QUICK_MS;
  const [first, second] = [before.get(pid), now.get(pid)];
  if (second === undefined) return first === undefined;
  if (first?.changed !== second.changed) return false;
  if (second.state?.startsWith("idle")) return true;
  return second.state === "active" && first.reads && second.reads && silent_ms >= READING_MS;
}

/**
 * Ends processes that serve connections of this name: all, or those given. They would keep their locks and
 * their places until the server notices by itself that nobody is there, which can take hours.
 */
export async function endBackends(sql: postgres.Sql, name: string, pids?: readonly number[]): Promise<void> {
  if (pids?.length === 0) return;
  const which = pids === undefined ? "" : ` and pid in (${pids.join()})`;
  await sql.unsafe(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'${which}`,
  );
}
