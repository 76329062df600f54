/** The address of the view of members. */
export const MEMBERS = { path: "members", scope: "organization" } as const;
