import { type Static, Type } from "@sinclair/typebox";
import { canonicalJson } from "./canonical-json.ts";
import { type Hash, sha256 } from "./chain.ts";
import { MONTH_PATTERN, TIME_PATTERN } from "./months.ts";

const closed = { additionalProperties: false };
/** The time of a declaration: RFC 3339, UTC, milliseconds. */
const declared_at = Type.String({ pattern: TIME_PATTERN });

/**
 * The declaration that retention drops the events of a month and of all months before. It is an entry of the chain
 * from before the drop.
 */
export const Retention = Type.Object({ month: Type.String({ pattern: MONTH_PATTERN }), declared_at }, closed);
export type Retention = Static<typeof Retention>;

/**
 * The declaration of an operator that rows of the chain cannot be restored: entries from position `from` up to this
 * declaration may be missing or altered. The chain continues from its sealed head.
 */
export const Restart = Type.Object(
  { from: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), declared_at },
  closed,
);
export type Restart = Static<typeof Restart>;

/** Returns `SHA-256(entry_n)` of a retention declaration, with the salt in hexadecimal. */
export function retentionEntryHash(owner: string, { month, declared_at }: Retention, salt: string): Hash {
  return sha256(canonicalJson({ declared_at, kind: "retention", month, owner, salt }));
}

/** Returns `SHA-256(entry_n)` of a restart, with the salt in hexadecimal. */
export function restartEntryHash(owner: string, { from, declared_at }: Restart, salt: string): Hash {
  return sha256(canonicalJson({ declared_at, from, kind: "restart", owner, salt }));
}
