/** Verifies exports with proof (AU-65) for the command line and the portal, without I/O of its own. */
export * from "./export-lines.ts";
export { englishOf, type Finding, type FindingCode, type FindingPlace, isAltered } from "./findings.ts";
export * from "./verify.ts";
export {
  NotKeys,
  readLogKey,
  readWitnessKeys,
  type WitnessFound,
  type WitnessRule,
} from "./witnesses.ts";
