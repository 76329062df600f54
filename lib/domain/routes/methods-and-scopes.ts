/** The keywords of route configuration (RG-6, RG-7). */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
export type Method = (typeof METHODS)[number];

export const SCOPES = ["public", "user", "organization", "member"] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The owner ids of each scope. An upstream template may use them, and a path param must not have their names.
 */
export const SUBJECT_FIELDS = {
  public: [],
  user: ["user_id"],
  organization: ["organization_id"],
  member: ["organization_id", "member_id"],
} as const satisfies Record<Scope, readonly string[]>;
export type SubjectField = (typeof SUBJECT_FIELDS)[Scope][number];

/**
 * Returns whether the callers of a route are members, whose labels and whose organization's plan the gateway checks.
 */
export function isOfMembers({ scope }: { readonly scope: Scope }): boolean {
  return scope === "organization" || scope === "member";
}

export const CONSTRAINTS = ["required_labels", "rate_limit", "audit"] as const;
