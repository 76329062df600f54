import type { InvalidResult, ValidationResult } from "@ostiary/lib/contracts/admission";
import { authTypeOf, type ParsedCredential, parseCredential } from "@ostiary/lib/domain/credentials";
import type { Roles } from "../roles/roles.ts";

/** A stored credential with the states that decide on it. */
export interface CredentialRow {
  /** Set for a user key. */
  userId: string | null;
  /** Of the person that the key, or the key's or session's member, belongs to; null for a service account. */
  personStatus: "active" | "suspended" | null;
  memberId: string | null;
  organizationId: string | null;
  role: string | null;
  memberStatus: "active" | "suspended" | "removed" | null;
  revokedAt: Date | null;
  /** Set for a session. */
  expiresAt: Date | null;
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
  now: Date,
): ValidationResult {
  if (row.revokedAt !== null || row.personStatus === "suspended") return INVALID;
  if (row.expiresAt !== null && row.expiresAt.getTime() <= now.getTime()) return INVALID;
  if (row.userId !== null) {
    if (authTypeOf(credential, "directory") === null) return INVALID;
    return { valid: true, realm: "directory", user_id: row.userId };
  }
  const { memberId, organizationId } = row;
  if (memberId === null || organizationId === null || row.memberStatus !== "active") return INVALID;
  if (authTypeOf(credential, "organization") === null) return INVALID;
  return {
    valid: true,
    realm: "organization",
    organization_id: organizationId,
    member_id: memberId,
    labels: roles.labelsOf(row.role),
    ...(row.expiresAt !== null && { expires_at: row.expiresAt.toISOString() }),
  };
}
