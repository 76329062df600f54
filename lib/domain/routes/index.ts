/**
 * Route configuration: schemas, rules, expansion, ownership and the route table. Gateway and registry share
 * all of it.
 */

export * from "./changes.ts";
export * from "./check-test.ts";
export * from "./compile.ts";
export * from "./count.ts";
export * from "./document-rules.ts";
export { expandService, joinPrefix, withoutTrailingSlashes } from "./expand.ts";
export * from "./labels.ts";
export * from "./list-changes.ts";
export { EFFECTS, type Effect, type Mark } from "./mark.ts";
export * from "./mark-changes.ts";
export * from "./maximum-sizes.ts";
export { fitsPattern } from "./name-pattern.ts";
export * from "./nearest-routes.ts";
export { PathPrefixes, pathPrefixViolations } from "./path-prefix.ts";
export * from "./policy-conflicts.ts";
export { boundedPaths, type OutOfBounds, PublisherBounds, type ServicePath } from "./publisher-bounds.ts";
export { literalSegments, parsedPath } from "./request-path.ts";
export * from "./route-conflicts.ts";
export { segmentsOf } from "./route-path.ts";
export * from "./schema.ts";
export { addressOf } from "./service-url.ts";
export * from "./setting-changes.ts";
export * from "./table.ts";
export { testText } from "./test-text.ts";
export * from "./upstream-path.ts";
export {
  type ServiceResult,
  validateDocument,
  validateService,
  validateStoredInSteps,
} from "./validate.ts";
