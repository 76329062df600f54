/** The view of the API reference. */
export const REFERENCE = { path: "reference", scope: "organization" } as const;

/** The path at which the gateway publishes the edge description. */
export const DESCRIPTION_PATH = "/edge/openapi.json";
