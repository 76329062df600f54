import { type Static, Type } from "@sinclair/typebox";
import { canonicalJson } from "./canonical-json.ts";
import { HASH_PATTERN } from "./chain.ts";

const position = () => Type.Integer({ minimum: 1 });

/** Consecutive entries of a chain, and the hash of the chain at the last of these entries. */
export const ChainRange = Type.Object(
  { from: position(), to: position(), chain: Type.String({ pattern: HASH_PATTERN }) },
  { additionalProperties: false },
);
export type ChainRange = Static<typeof ChainRange>;

/** A month in UTC: `2026-01`. */
export const MONTH_PATTERN = "^20[0-9]{2}-(0[1-9]|1[0-2])$";

/**
 * A declaration in the chain of an owner: it names the entries of a month that retention drops. The declaration is
 * itself an entry, with a position and a salt, and checkpoints sign it like any other entry.
 */
export const Retention = Type.Object(
  {
    month: Type.String({ pattern: MONTH_PATTERN }),
    /** RFC 3339, UTC, milliseconds. */
    declared_at: Type.String(),
    ranges: Type.Array(ChainRange, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type Retention = Static<typeof Retention>;

/** Returns the text of a declaration's entry, with the salt in hexadecimal. */
export function retentionEntry(
  owner: string,
  { month, declared_at, ranges }: Retention,
  salt: string,
): string {
  return canonicalJson({ declared_at, kind: "retention", month, owner, ranges, salt });
}

/** Returns the UTC month of a time, plus `monthsAfter` months. */
export function monthOf(timeMs: number, monthsAfter = 0): string {
  const time = new Date(timeMs);
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsAfter))
    .toISOString()
    .slice(0, 7);
}

/** Returns the start of a month that {@link MONTH_PATTERN} accepts, in milliseconds. */
export function monthStart(month: string): number {
  return Date.parse(`${month}-01T00:00:00.000Z`);
}

/** Returns the start of the next month, in milliseconds. */
export function monthEnd(month: string): number {
  return monthStart(monthOf(monthStart(month), 1));
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Parses a time in the form that the log uses (RFC 3339, UTC, milliseconds). Returns epoch milliseconds, or
 * null for any other text.
 */
export function proofTime(text: string): number | null {
  if (!TIME.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== text ? null : ms;
}
