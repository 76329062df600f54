/**
 * Settings of every session, whatever the database, its role or its URL say: how times and values are written
 * and read, where an unqualified name leads, when a transaction sees others. Our statements are written for
 * these. `default_transaction_read_only` is left to the operator, who closes a database to writers with it.
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

/** Limits that younger servers have, and that refuse a session of older ones: pinned to 0 where they are set. */
export const youngTimeouts = ["idle_session_timeout", "transaction_timeout"];

/** `url` without the query parameters that postgres.js would put in place of `settings` of the same name. */
export function withoutSettings(url: string, settings: object): string {
  const [address = "", query] = url.split("?", 2);
  if (query === undefined) return url;
  const pinned = new Set(Object.keys(settings).map((name) => name.toLowerCase()));
  const kept = [...new URLSearchParams(query)].filter(([name]) => !pinned.has(name.toLowerCase()));
  return kept.length === 0 ? address : `${address}?${new URLSearchParams(kept)}`;
}
