import type { InvalidResult, ValidationResult } from "@ostiary/lib/contracts/admission";
import { authTypeOf, type ParsedCredential, parseCredential } from "@ostiary/lib/domain/credentials";
import type { Roles } from "../roles/configured-roles.ts";
import type { apiKeys, members, sessions, users } from "../tables.ts";

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/** A stored credential with the states that decide whether it is valid. */
export interface CredentialRow
  extends Nullable<Pick<typeof members.$inferSelect, "organization_id" | "role">>,
    Nullable<Pick<typeof sessions.$inferSelect, "expires_at">>,
    Pick<typeof apiKeys.$inferSelect, "revoked_at"> {
  /** The plan of the organization. Null for a user key, and for an organization without a plan. */
  plan: string | null;
  /** The id of the key, or null for a session. */
  key_id: string | null;
  /** The id of the person of a user key. Null for member credentials. */
  user_id: string | null;
  /** The status of the person behind the key or session, or null for a service account. */
  person_status: (typeof users.$inferSelect)["status"] | null;
  member_id: string | null;
  member_status: (typeof members.$inferSelect)["status"] | null;
}

export const INVALID: InvalidResult = { valid: false };

/** Parses a credential. Returns null for a text without a known form or without this deployment's brand. */
export function ownCredential(text: string, brand: string): ParsedCredential | null {
  const parsed = parseCredential(text);
  return parsed?.brand === brand ? parsed : null;
}

export function isSession(credential: ParsedCredential): boolean {
  return credential.kind === "s" || credential.kind === "ms";
}

/**
 * Decides whether a credential is valid now (ID-87, ID-88). A credential is invalid when it is revoked or
 * expired, or when its member or person is not active. Otherwise the result is its holder, with the labels
 * that the member's role grants now.
 */
export function judge(
  credential: ParsedCredential,
  row: CredentialRow,
  roles: Roles,
  now: number,
): ValidationResult {
  if (row.revoked_at !== null || row.person_status === "suspended") return INVALID;
  if (row.expires_at !== null && row.expires_at.getTime() <= now) return INVALID;
  const end = row.expires_at !== null && { expires_at: row.expires_at.toISOString() };
  if (row.user_id !== null) {
    if (authTypeOf(credential, "directory") === null) return INVALID;
    return { valid: true, realm: "directory", user_id: row.user_id, ...end };
  }
  const { member_id, organization_id } = row;
  if (member_id === null || organization_id === null || row.member_status !== "active") return INVALID;
  if (authTypeOf(credential, "organization") === null) return INVALID;
  return {
    valid: true,
    realm: "organization",
    organization_id,
    member_id,
    labels: roles.labelsOf(row.role),
    plan: row.plan,
    ...end,
  };
}
