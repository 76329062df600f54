/** Verifies exports with proof (AU-65) for the command line and the portal, without I/O of its own. */
export * from "./cosigned-root.ts";
export { type EnglishVerdict, inEnglish } from "./english-verdict.ts";
export * from "./export-lines.ts";
export * from "./kept-copies.ts";
export type { Problem } from "./problems.ts";
export * from "./verify.ts";
export type { Witnessed, WitnessRule } from "./witnesses-check.ts";
