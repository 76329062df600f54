import type { InvalidResult, ValidationResult } from "@ostiary/lib/contracts/admission";
import { authTypeOf, type ParsedCredential, parseCredential } from "@ostiary/lib/domain/credentials";
import type { Roles } from "../roles/roles.ts";
import type { apiKeys, members, sessions, users } from "../tables.ts";

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/** A stored credential with the states that decide on it. */
export interface CredentialRow
  extends Nullable<Pick<typeof members.$inferSelect, "organization_id" | "role">>,
    Nullable<Pick<typeof sessions.$inferSelect, "expires_at">>,
    Pick<typeof apiKeys.$inferSelect, "revoked_at"> {
  /** Null for a session. */
  key_id: string | null;
  /** Set for a user key. */
  user_id: string | null;
  /** Of the person that the key, or the key's or session's member, belongs to; null for a service account. */
  person_status: (typeof users.$inferSelect)["status"] | null;
  member_id: string | null;
  member_status: (typeof members.$inferSelect)["status"] | null;
}

export const INVALID: InvalidResult = { valid: false };

/** The credential when it has a known form and this deployment's brand, which alone can be valid. */
export function ownCredential(text: string, brand: string): ParsedCredential | null {
  const parsed = parseCredential(text);
  return parsed?.brand === brand ? parsed : null;
}

export function isSession(credential: ParsedCredential): boolean {
  return credential.kind === "s" || credential.kind === "ms";
}

/**
 * What a credential is worth now (contract 4, Admission): nothing when it is revoked or over, or its member or
 * person is not active; else its holder, with what the member's role grants at this moment.
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
    ...end,
  };
}
