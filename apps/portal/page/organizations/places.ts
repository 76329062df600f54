/** The start page of an organization. */
export const OVERVIEW = { path: "overview", scope: "organization" } as const;

/** The list of the person's organizations. */
export const ORGANIZATIONS = { path: "organizations", scope: "person" } as const;
