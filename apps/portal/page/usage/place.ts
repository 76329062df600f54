/** The view of an organization's usage. */
export const USAGE = { path: "usage", scope: "organization" } as const;

/** The label that reading usage needs. */
export const USAGE_LABEL = "org:usage:read";
