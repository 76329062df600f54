/** The responses of the registry's admin API, and its client. */
export * from "./apply.ts";
export * from "./change-note.ts";
export * from "./console-settings.ts";
export * from "./gateways.ts";
export * from "./lookup.ts";
export * from "./operators.ts";
export * from "./projections.ts";
export * from "./registry-client.ts";
export * from "./revisions.ts";
export * from "./roles.ts";
export * from "./services.ts";
