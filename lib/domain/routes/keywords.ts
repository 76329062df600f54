/** The words that route configuration has in fixed places (Gateway specification, Resources and their fields). */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
export type Method = (typeof METHODS)[number];

export const SCOPES = ["public", "user", "organization", "member"] as const;
export type Scope = (typeof SCOPES)[number];

/** The owner ids that an upstream template may use, and that a path may not take for a param, by scope. */
export const SUBJECT_FIELDS = {
  public: [],
  user: ["user_id"],
  organization: ["organization_id"],
  member: ["organization_id", "member_id"],
} as const satisfies Record<Scope, readonly string[]>;
export type SubjectField = (typeof SUBJECT_FIELDS)[Scope][number];

/** What may be set for one method. */
export const CONSTRAINTS = ["required_labels", "rate_limit", "audit"] as const;
