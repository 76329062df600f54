/** The proof of the audit log (AU-50): entries, chains, heads and checkpoints. This code does no I/O. */
export * from "./canonical-json.ts";
export * from "./chain.ts";
export * from "./checkpoint.ts";
export * from "./entry.ts";
export * from "./head.ts";
export * from "./head-map.ts";
export * from "./merkle.ts";
export * from "./retention.ts";
export * from "./signature.ts";
