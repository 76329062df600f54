/** Verifies exports with proof (AU-65) for the command line and the portal, without I/O of its own. */
export { englishOf } from "./english.ts";
export * from "./export-lines.ts";
export { type Finding, type FindingCode, isAltered, type Place } from "./findings.ts";
export * from "./kept-root.ts";
export * from "./verify.ts";
export {
  NotKeys,
  readLogKey,
  readWitnessKeys,
  type WitnessFound,
  type WitnessRule,
} from "./witnesses.ts";
