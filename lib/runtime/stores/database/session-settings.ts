/**
 * The settings of every session, which override those of the database, role and URL. Statements rely on them:
 * on the format of times and values, the search path and the isolation. `default_transaction_read_only` is
 * not set, because operators use it to close a database to writers.
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
 * Timeouts of newer servers, which sessions switch off if an operator has set them. Older servers refuse a
 * session with an unknown setting.
 */
export const youngTimeouts = ["idle_session_timeout", "transaction_timeout"];

/**
 * Returns `url` without the query parameters that postgres.js would use instead of `settings` of the same
 * name.
 */
export function withoutSettings(url: string, settings: object): string {
  const [address = "", query] = url.split("?", 2);
  if (query === undefined) return url;
  const pinned = new Set(Object.keys(settings).map((name) => name.toLowerCase()));
  const kept = [...new URLSearchParams(query)].filter(([name]) => !pinned.has(name.toLowerCase()));
  return kept.length === 0 ? address : `${address}?${new URLSearchParams(kept)}`;
}
