/** The view of an organization's usage. */
export const USAGE = { path: "usage", scope: "organization" } as const;

/** The label that allows a member to read the usage. */
export const USAGE_LABEL = "org:usage:read";
