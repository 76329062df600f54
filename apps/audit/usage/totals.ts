import { usageTotals } from "@ostiary/lib/contracts/usage";
import { Type } from "@sinclair/typebox";

export const HOUR_MS = 3_600_000;

/** The columns that name a count, in the order of its key. */
export const KEY_COLUMNS = [
  "organization_id",
  "hour",
  "service",
  "route",
  "method",
  "member_id",
  "key_prefix",
] as const;

/** The columns of the numbers that are counted. */
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

const { requests, refused, failed, bytes_in, bytes_out, duration_ms } = usageTotals;

/** The counted numbers as they are shown, with refusals by reason and together. */
export const shownTotals = {
  requests,
  refused: Type.Integer({
    minimum: 0,
    description: "Requests that the gateway refused, for all reasons together.",
    examples: [8],
  }),
  refused_limit: refused.properties.limit,
  refused_labels: refused.properties.labels,
  refused_other: refused.properties.other,
  ...{ failed, bytes_in, bytes_out, duration_ms },
};

/** Returns the number of refusals for all reasons together. */
export function refusedOf({ refused_limit, refused_labels, refused_other }: Totals): number {
  return refused_limit + refused_labels + refused_other;
}
