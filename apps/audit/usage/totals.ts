export const HOUR_MS = 3_600_000;

/** The columns that identify a count, in the order of its key. */
export const KEY_COLUMNS = [
  "organization_id",
  "hour",
  "service",
  "route",
  "method",
  "member_id",
  "key_prefix",
] as const;

/** The columns that contain the counted numbers. */
export const TOTAL_COLUMNS = [
  "requests",
  "refused_limit",
  "refused_labels",
  "refused_other",
  "failed",
  "bytes_in",
  "bytes_out",
  "duration_ms",
] as const;

/** The counted numbers of a row. */
export type Totals = Record<(typeof TOTAL_COLUMNS)[number], number>;

/** Returns the total number of refusals. */
export function refusedOf({ refused_limit, refused_labels, refused_other }: Totals): number {
  return refused_limit + refused_labels + refused_other;
}
