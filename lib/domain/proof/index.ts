/** The parts of the audit log's proof (AU-50): entries, chains, the map of heads, and leaves. This code does no I/O. */

export * from "./chain.ts";
export * from "./entry.ts";
export * from "./head-map.ts";
export * from "./months.ts";
export * from "./owner.ts";
