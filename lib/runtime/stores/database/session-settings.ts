import { isClientParameter } from "../../config/index.ts";

/**
 * The settings of every session. They override the settings of the database, the role and the URL, because
 * statements rely on formats, the search path and the isolation level. `default_transaction_read_only` is
 * missing here, because operators use it to make a database read-only.
 */
export const sessionSettings: Record<string, string> = {
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

/**
 * The settings of sessions on PostgreSQL 14 and newer. Older servers reject sessions with an unknown setting.
 * A session has them from its first moment, because a short `idle_session_timeout` of an operator could end it
 * before its first statement.
 */
export const settingsSince14: Readonly<Record<string, string>> = { idle_session_timeout: "0" };

/**
 * Returns `url` without the query parameters that are also in `settings`, because postgres.js would prefer
 * the parameters, and without those that the service reads itself. The driver reads `sslnegotiation`.
 */
export function withoutSettings(url: string, settings: object): string {
  const [address = "", query] = url.split("?", 2);
  if (query === undefined) return url;
  const pinned = new Set(Object.keys(settings).map((name) => name.toLowerCase()));
  const isSent = (name: string) =>
    name === "sslnegotiation" || !(pinned.has(name.toLowerCase()) || isClientParameter(name));
  const kept = [...new URLSearchParams(query)].filter(([name]) => isSent(name));
  return kept.length === 0 ? address : `${address}?${new URLSearchParams(kept)}`;
}
