/** The answers of the registry's admin API: made by the registry, read by the command line. */
export * from "./apply.ts";
export * from "./gateways.ts";
export * from "./lookup.ts";
export * from "./projections.ts";
export * from "./revisions.ts";
export * from "./services.ts";
