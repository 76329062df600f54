/** How the audit log proves itself (contract 6, Proof): entries, chains, heads and checkpoints. Pure. */
export * from "./canonical-json.ts";
export * from "./chain.ts";
export * from "./checkpoint.ts";
export * from "./entry.ts";
export * from "./head.ts";
export * from "./merkle.ts";
