import { listQueryProperties } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";

/** More than thirty years. */
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

/** The query of a list of keys, by which those are found that somebody should look at. */
export const keyListQuery = Type.Object(
  {
    ...listQueryProperties(),
    unused_for_seconds: secondsParameter(
      "Only keys that were not used for so long; one that never was, since it was created.",
    ),
    expires_within_seconds: secondsParameter("Only keys that end within this time."),
  },
  { additionalProperties: false },
);

/** Which of an owner's keys are asked for: open ones, and of these those that fit both times that are set. */
export interface KeyFilter {
  readonly now: Date;
  readonly unused_since: Date | null;
  readonly expires_until: Date | null;
}

/** What a query asks for; null for all keys. */
export function keyFilter(
  { unused_for_seconds, expires_within_seconds }: Static<typeof keyListQuery>,
  now: number,
): KeyFilter | null {
  if (unused_for_seconds === undefined && expires_within_seconds === undefined) return null;
  return {
    now: new Date(now),
    unused_since: unused_for_seconds === undefined ? null : new Date(now - Number(unused_for_seconds) * 1000),
    expires_until:
      expires_within_seconds === undefined ? null : new Date(now + Number(expires_within_seconds) * 1000),
  };
}
