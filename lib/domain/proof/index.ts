/** The parts of the audit log's proof (AU-50): entries, chains, the map of heads, and leaves. This code does no I/O. */
export * from "./canonical-json.ts";
export * from "./chain.ts";
export * from "./declarations.ts";
export * from "./entry.ts";
export * from "./head-map.ts";
export * from "./leaf.ts";
export * from "./months.ts";
