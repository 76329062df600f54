import type { AuthType, Realm } from "@ostiary/lib/domain/credentials";

/**
 * The admitted caller: the ids that its scope knows, and what logs and audit events say about the credential.
 */
export interface Principal {
  readonly auth_type: AuthType;
  /** Display prefix of the key or session, or null for a JWT. */
  readonly key_prefix: string | null;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** The labels that a member's role grants, or null for a user, whose labels are never checked. */
  readonly labels: readonly string[] | null;
  /** The plan of the organization, or null if there is none, and for a user. */
  readonly plan: string | null;
}

/** An admitted caller and the realm of the credential. */
export interface Admitted {
  readonly realm: Realm;
  readonly principal: Principal;
}
