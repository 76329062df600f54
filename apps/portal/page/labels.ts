/** The labels that parts of the page require. The page only hides these parts; the gateway decides. */

/** Allows renaming the organization. */
export const RENAME_LABEL = "org:write";
/** Allows changes of members and invitations. */
export const MEMBERS_LABEL = "org:members:write";
/** Allows changes of service accounts and their keys. */
export const SERVICE_ACCOUNTS_LABEL = "org:service-accounts:write";
export const USAGE_LABEL = "org:usage:read";
export const AUDIT_LABEL = "org:audit:read";
