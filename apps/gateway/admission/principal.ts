import type { AuthType, Realm } from "@ostiary/lib/domain/credentials";

/** Who was admitted: the ids that the scope knows, and what logs and audit events say of the credential. */
export interface Principal {
  readonly auth_type: AuthType;
  /** Display prefix of the key or session; null for a JWT. */
  readonly key_prefix: string | null;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** What a member's role grants; null for a user, whose labels are never checked. */
  readonly labels: readonly string[] | null;
}

/** A caller whose proof holds, and the realm that the proof belongs to. */
export interface Admitted {
  readonly realm: Realm;
  readonly principal: Principal;
}
