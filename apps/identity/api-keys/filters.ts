import { listQueryProperties } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";

/** The maximum value of either filter: more than thirty years. */
const SECONDS_MAX = 999_999_999;

function secondsParameter(description: string) {
  return Type.Optional(
    Type.String({
      description: `${description} Revoked and expired keys are left out.`,
      pattern: "^[0-9]{1,9}$",
      rule: `must be a whole number from 0 to ${SECONDS_MAX}`,
      openapi: { type: "integer", minimum: 0, maximum: SECONDS_MAX, examples: [7_776_000] },
    }),
  );
}

/** The query of a list of keys, with filters for keys that need attention. */
export const keyListQuery = Type.Object(
  {
    ...listQueryProperties(),
    unused_for_seconds: secondsParameter(
      "Only keys that were not used for this many seconds. For a key that was never used, the time since its creation counts.",
    ),
    expires_within_seconds: secondsParameter("Only keys that expire within this many seconds."),
  },
  { additionalProperties: false },
);

/** A filter for keys that are neither revoked nor expired. A key must also match each time that is not null. */
export interface KeyFilter {
  readonly now: Date;
  readonly unusedSince: Date | null;
  readonly expiresUntil: Date | null;
}

/** Returns the filter of a query, or null if the query does not restrict the list. */
export function keyFilter(
  { unused_for_seconds, expires_within_seconds }: Static<typeof keyListQuery>,
  now: number,
): KeyFilter | null {
  if (unused_for_seconds === undefined && expires_within_seconds === undefined) return null;
  return {
    now: new Date(now),
    unusedSince: unused_for_seconds === undefined ? null : new Date(now - Number(unused_for_seconds) * 1000),
    expiresUntil:
      expires_within_seconds === undefined ? null : new Date(now + Number(expires_within_seconds) * 1000),
  };
}
