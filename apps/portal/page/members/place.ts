/** The view of members. */
export const MEMBERS = { path: "members", scope: "organization" } as const;
