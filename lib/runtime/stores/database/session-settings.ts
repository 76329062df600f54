import { type SQL, sql } from "drizzle-orm";
import { isClientParameter } from "../../config/index.ts";

/** The timeout of an idle transaction. It releases the locks of a process that hangs. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * The settings of every session, because statements rely on formats, the search path and the isolation level.
 * `default_transaction_read_only` is missing, because operators use it to make a database read-only.
 */
export const sessionSettings: Readonly<Record<string, string>> = {
  client_encoding: "UTF8",
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  standard_conforming_strings: "on",
  bytea_output: "hex",
  extra_float_digits: "1",
  search_path: "public",
  default_transaction_isolation: "read committed",
  lock_timeout: "0",
};

/** Returns the settings of every session of a pool of PostgreSQL. `statementMs` is the longest time of a statement. */
export function poolSettings(plan_cache_mode: string, statementMs: number): Readonly<Record<string, string>> {
  return {
    ...sessionSettings,
    plan_cache_mode,
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  };
}

/** Returns a statement that replaces the timeouts of a session, or of its transaction if `isLocal`. */
export function setTimeouts(statementMs: number, lockMs: number, isLocal: boolean): SQL {
  return sql`select set_config('statement_timeout', ${String(statementMs)}, ${isLocal}),
    set_config('lock_timeout', ${String(lockMs)}, ${isLocal})`;
}

/**
 * Settings that the first statement makes, because old servers refuse them at the start or the driver leaves them out.
 */
const settingsAfterStart = { transaction_timeout: "0", default_tablespace: "" };

/** A short `idle_session_timeout` of an operator could end a session before its first statement. */
export const settingsSince14: Readonly<Record<string, string>> = { idle_session_timeout: "0" };

export interface SessionRow {
  /** The process id of the session at the server, also behind a pooler. */
  pid: number;
  /** The start of that process. With the process id it identifies the session. */
  since: string;
  standby: boolean;
  encoding: string;
}

/**
 * Returns the first statement of each session. A pooler drops the settings of the start-up packet, so the statement
 * sets all settings that the server knows. A COMMIT must be on disk before its response, so a weaker
 * `synchronous_commit` is raised.
 */
export function openingStatement(settings: Readonly<Record<string, string>>): string {
  const wanted = JSON.stringify({ ...settings, ...settingsAfterStart });
  return `select pg_backend_pid() as pid, pg_is_in_recovery() as standby, getdatabaseencoding() as encoding,
    (select backend_start::text from pg_stat_activity where pid = pg_backend_pid()) as since,
    (select count(set_config(name, wanted.value, false)) from pg_settings
      join json_each_text('${wanted}') wanted on lower(name) = lower(wanted.key)) as pinned,
    set_config('synchronous_commit', case current_setting('synchronous_commit')
      when 'remote_apply' then 'remote_apply' else 'on' end, false) as durable`;
}

/** Removes the parameters in `settings`, which postgres.js would prefer, and those that the service reads. */
export function withoutSettings(url: string, settings: object): string {
  const [address = "", query] = url.split("?", 2);
  if (query === undefined) return url;
  const pinned = new Set(Object.keys(settings).map((name) => name.toLowerCase()));
  const isSent = (name: string) =>
    name === "sslnegotiation" || !(pinned.has(name.toLowerCase()) || isClientParameter(name));
  const kept = [...new URLSearchParams(query)].filter(([name]) => isSent(name));
  return kept.length === 0 ? address : `${address}?${new URLSearchParams(kept)}`;
}
