/**
 * Route configuration: schemas, rules, expansion, ownership and the route table. Gateway and registry share
 * this code.
 */

export {
  type CallBounds,
  type ConfiguredBounds,
  configuredBounds,
  DEFAULT_CALL_BOUNDS,
  MaxBodyBytes,
  TimeoutMs,
} from "./call-bounds.ts";
export * from "./change-marks.ts";
export * from "./change-schema.ts";
export * from "./change-text.ts";
export * from "./compile-service.ts";
export * from "./count-routes.ts";
export * from "./document-rules.ts";
export * from "./labels.ts";
export * from "./list-changes.ts";
export * from "./maximum-sizes.ts";
export { fitsPattern } from "./name-pattern.ts";
export * from "./nearest-routes.ts";
export { PathPrefixes, pathPrefixViolations } from "./path-prefix.ts";
export * from "./plan-name.ts";
export * from "./policy-conflicts.ts";
export {
  type OutOfBounds,
  outOfBoundsText,
  type Published,
  PublisherBounds,
  publishedBy,
  sharedPolicies,
} from "./publisher-bounds.ts";
export { parsedPath } from "./request-path.ts";
export { EFFECTS, type Effect, type ReviewMark } from "./review-mark.ts";
export * from "./route-conflicts.ts";
export { pathViolations, segmentsOf } from "./route-path.ts";
export * from "./route-table.ts";
export { testText } from "./route-test-text.ts";
export * from "./run-route-test.ts";
export { addressPatternViolation, canonicalAddress, isThisMachine } from "./service-address.ts";
export * from "./service-schema.ts";
export { addressOf } from "./service-url.ts";
export { expandService, joinPrefix, withoutTrailingSlashes } from "./stored-form.ts";
export * from "./upstream-path.ts";
export {
  type ServiceResult,
  validateDocument,
  validateService,
  validateStoredInSteps,
} from "./validate.ts";
