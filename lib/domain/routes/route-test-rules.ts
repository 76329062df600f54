/** Checks the rules between fields of route tests (RG-145, RG-146). */
import type { FieldPath, Partly, Violations } from "../errors/index.ts";
import type { RouteTest } from "./route-test-schema.ts";
import { testNamedTwice } from "./schema-messages.ts";

/**
 * Adds the problems of tests to `violations`.
 *
 * @param at the path of the list of tests
 */
export function checkTests(tests: Partly<RouteTest[]>, at: FieldPath, violations: Violations): void {
  const names = new Set<string>();
  for (const [index, test] of tests.entries()) {
    if (violations.isFull) return;
    if (test !== undefined) checkTest(test, [...at, index], violations, names);
  }
}

function checkTest(
  { name, role, labels, plan, expect = {} }: Partly<RouteTest>,
  at: FieldPath,
  violations: Violations,
  names: Set<string>,
): void {
  if (name !== undefined && names.has(name)) {
    violations.add([...at, "name"], testNamedTwice(name));
  }
  if (name !== undefined) names.add(name);
  const isOfCaller = role !== undefined || labels !== undefined;
  if (role !== undefined && labels !== undefined)
    violations.add([...at, "labels"], "Set role or labels, not both.");
  if ("allowed" in expect && !isOfCaller) {
    violations.add([...at, "expect", "allowed"], "allowed needs a member: set role or labels.");
  }
  if (isOfCaller && !("allowed" in expect)) {
    const field = role === undefined ? "labels" : "role";
    violations.add(
      [...at, field],
      `${field} only affects expect.allowed: set that field, or leave ${field} out.`,
    );
  }
  if (plan !== undefined && !("requests" in expect)) {
    violations.add([...at, "plan"], "plan only affects expect.requests: set that field, or leave plan out.");
  }
  if ("status" in expect && Object.keys(expect).length > 1) {
    violations.add(
      [...at, "expect", "status"],
      "Expect nothing besides status: 404, because no route serves the request.",
    );
  }
}
