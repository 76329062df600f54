import type { AuthType, Realm } from "@ostiary/lib/domain/credentials";

/** An admitted caller, and the parts of its credential that logs and audit events show. */
export interface Principal {
  readonly auth_type: AuthType;
  /** Display prefix of the key or session, or null for a JWT. */
  readonly key_prefix: string | null;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** The labels that a member's role grants, or null for a person. User routes require no labels. */
  readonly labels: readonly string[] | null;
  /** The plan of the organization. Null for a person, and for an organization without a plan. */
  readonly plan: string | null;
}

export interface Admitted {
  readonly realm: Realm;
  readonly principal: Principal;
}

export function admittedPerson(
  proof: Pick<Principal, "auth_type" | "key_prefix">,
  user_id: string,
): Admitted {
  return {
    realm: "directory",
    principal: { ...proof, user_id, organization_id: null, member_id: null, labels: null, plan: null },
  };
}
