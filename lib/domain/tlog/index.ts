/**
 * Append-only trees that witnesses follow (C2SP tlog-tiles): notes, tree heads and proofs. This code does no
 * I/O.
 */

export * from "./signed-note.ts";
export * from "./tiles.ts";
export * from "./tree.ts";
export * from "./tree-head.ts";
