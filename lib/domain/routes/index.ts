/**
 * Route configuration: schemas, rules, expansion, ownership and the route table. Gateway and registry share
 * this code.
 */

export * from "./call-bounds.ts";
export * from "./change-marks.ts";
export * from "./change-schema.ts";
export * from "./change-text.ts";
export * from "./compile-service.ts";
export * from "./document-rules.ts";
export { limitText } from "./limit-numbers.ts";
export * from "./list-changes.ts";
export * from "./maximum-sizes.ts";
export * from "./nearest-routes.ts";
export { PathPrefixes, pathPrefixViolations } from "./path-prefix.ts";
export * from "./policy-conflicts.ts";
export * from "./publisher-bounds.ts";
export { parsedPath } from "./request-path.ts";
export * from "./route-conflicts.ts";
export { pathViolations, segmentsOf } from "./route-path.ts";
export * from "./route-table.ts";
export * from "./run-route-test.ts";
export { addressPatternViolation, canonicalAddress, isThisMachine } from "./service-address.ts";
export * from "./service-schema.ts";
export { addressOf } from "./service-url.ts";
export * from "./stored-form.ts";
export * from "./upstream-path.ts";
export * from "./validate.ts";
