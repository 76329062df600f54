/** The view of service accounts. */
export const SERVICE_ACCOUNTS = { path: "service-accounts", scope: "organization" } as const;

/** The label that allows changes of service accounts and their keys. */
export const SERVICE_ACCOUNTS_LABEL = "org:service-accounts:write";
