/**
 * The single entry point for validating route configuration (RG-42). The registry validates the input of
 * operators, and the gateway validates the services that it loads. The input is any JSON or YAML value. The
 * result lists the problems, each with its path and the accepted values.
 */
import type { Static } from "@sinclair/typebox";
import {
  type FieldError,
  type FieldPath,
  fits,
  partsThatFit,
  Violations,
  violationsOf,
} from "../errors/index.ts";
import { isRecord } from "../json/index.ts";
import { DOCUMENT_BYTES_MAX, SERVICE_CONFIG_BYTES_MAX, TESTS_MAX } from "./maximum-sizes.ts";
import { SCOPES } from "./methods-and-scopes.ts";
import { checkTests } from "./route-test-rules.ts";
import {
  DOCUMENT_TOO_LARGE,
  NAMED_BY_DOTS,
  SERVICE_TOO_LARGE,
  TOO_MANY_TESTS,
  testNamedTwice,
} from "./schema-messages.ts";
import { checkRules } from "./service-rules.ts";
import {
  DocumentOutline,
  type RouteTest,
  RouteTests,
  ServiceConfig,
  ServiceName,
  StoredServiceConfig,
} from "./service-schema.ts";
import { addressOf } from "./service-url.ts";
import { expandService } from "./stored-form.ts";

const DOT_SEGMENTS = [".", ".."];

interface Invalid {
  readonly ok: false;
  readonly fields: FieldError[];
}

/** A valid service of a document. */
export interface DocumentService {
  readonly written: ServiceConfig;
  readonly stored: StoredServiceConfig;
  /** The path of each stored test in the document. */
  readonly testPaths: readonly FieldPath[];
}

type DocumentResult = { readonly ok: true; readonly services: Map<string, StoredServiceConfig> } | Invalid;
export type ServiceResult = { readonly ok: true; readonly service: StoredServiceConfig } | Invalid;

/** Checks the body of apply and expands its services, in the order of the document. */
export function validateDocument(input: unknown): DocumentResult {
  const { services, violations } = readDocument(input);
  if (violations.all.length > 0) return { ok: false, fields: violations.fields };
  return { ok: true, services: new Map([...services].map(([name, { stored }]) => [name, stored])) };
}

/** Returns the valid services of a document, in the document's order, and the problems of the document. */
export function readDocument(input: unknown): {
  services: Map<string, DocumentService>;
  violations: Violations;
} {
  const violations = violationsOf(DocumentOutline, input);
  const given = isRecord(input) && isRecord(input.services) ? input.services : {};
  const [first] = Object.keys(given);
  const kept = Map.groupBy(testsAbove(input, violations), ({ test }) => homeOf(test, given) ?? first);
  const services = new Map<string, DocumentService>();
  let bytes = 0;
  for (const [name, value] of Object.entries(given)) {
    if (violations.isFull) break;
    if (DOT_SEGMENTS.includes(name)) violations.add(["services", name], NAMED_BY_DOTS);
    const service = readWritten(value, ["services", name], violations, kept.get(name));
    if (service === undefined) continue;
    services.set(name, service);
    bytes += service.bytes;
    if (bytes <= DOCUMENT_BYTES_MAX) continue;
    violations.add(["services"], DOCUMENT_TOO_LARGE);
    break;
  }
  return { services, violations };
}

/** A test at the top of a document, outside of any service, with its path in the document. */
interface TestAbove {
  readonly test: RouteTest;
  readonly path: FieldPath;
}

/** Returns the tests at the top of a document, or an empty list if one of them is invalid. */
function testsAbove(input: unknown, violations: Violations): readonly TestAbove[] {
  const given = isRecord(input) && Array.isArray(input.tests) ? input.tests : [];
  if (!fits(RouteTests, given)) return [];
  const before = violations.all.length;
  checkTests(given, ["tests"], violations);
  if (violations.all.length > before) return [];
  return given.map((test, index) => ({ test, path: ["tests", index] }));
}

/** Returns the service that a test expects, or undefined if the document does not have it (RG-147). */
function homeOf({ expect }: RouteTest, given: Readonly<Record<string, unknown>>): string | undefined {
  const { service } = expect;
  return service !== undefined && Object.hasOwn(given, service) ? service : undefined;
}

/**
 * Checks one service as written, for PUT and restore, and expands it.
 *
 * @param at the path of the service in errors; "" if the input is the body itself
 */
export function validateService(name: string, input: unknown, at = ""): ServiceResult {
  const violations = nameViolations(name, at === "" ? "name" : at);
  return result(readWritten(input, at === "" ? [] : [at], violations)?.stored, violations);
}

/**
 * Checks one stored service as the gateway loads it, in steps. An old value may contain a bare `host:port`.
 * The url of the result is always `http://host:port`; all other parts are unchanged.
 */
export function* validateStoredInSteps(name: string, value: unknown): Generator<void, ServiceResult> {
  const violations = nameViolations(name, "name");
  const service = yield* readService(StoredServiceConfig, value, [], violations);
  return result(service && { ...service, url: `http://${addressOf(service.url)}` }, violations);
}

function lastOf<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function result(service: StoredServiceConfig | undefined, violations: Violations): ServiceResult {
  if (service === undefined || violations.all.length > 0) return { ok: false, fields: violations.fields };
  return { ok: true, service };
}

function nameViolations(name: string, at: string): Violations {
  const violations = new Violations();
  for (const { message } of violationsOf(ServiceName, name).all) violations.add([at], message);
  if (DOT_SEGMENTS.includes(name)) violations.add([at], NAMED_BY_DOTS);
  return violations;
}

/** @param above the tests at the top of the document that are stored with this service */
function readWritten(
  value: unknown,
  at: FieldPath,
  violations: Violations,
  above: readonly TestAbove[] = [],
): (DocumentService & { bytes: number }) | undefined {
  const written = lastOf(readService(ServiceConfig, value, at, violations));
  if (written === undefined) return undefined;
  const own = (written.tests ?? []).map((test, index) => ({ test, path: [...at, "tests", index] }));
  if (!canJoin(own, above, at, violations)) return undefined;
  const tests = [...own, ...above];
  const expanded = expandService(written);
  const stored = tests.length === 0 ? expanded : { ...expanded, tests: tests.map(({ test }) => test) };
  const bytes = Buffer.byteLength(JSON.stringify(stored));
  if (bytes <= SERVICE_CONFIG_BYTES_MAX) {
    return { written, stored, bytes, testPaths: tests.map(({ path }) => path) };
  }
  violations.add(at, SERVICE_TOO_LARGE);
  return undefined;
}

/**
 * Returns whether the tests from the top of the document can be stored with a service's own tests. Reports
 * duplicate names, and too many tests.
 */
function canJoin(
  own: readonly TestAbove[],
  above: readonly TestAbove[],
  at: FieldPath,
  violations: Violations,
): boolean {
  const before = violations.all.length;
  const names = new Set(own.map(({ test }) => test.name));
  for (const { test, path } of above) {
    if (names.has(test.name)) violations.add([...path, "name"], testNamedTwice(test.name));
  }
  if (own.length + above.length > TESTS_MAX) violations.add([...at, "tests"], TOO_MANY_TESTS);
  return violations.all.length === before;
}

/**
 * Returns the service, or undefined if it violates the schema or the rules. If some parts do not match the
 * schema, the rules still check the other parts.
 */
function* readService<Schema extends typeof ServiceConfig | typeof StoredServiceConfig>(
  schema: Schema,
  value: unknown,
  at: FieldPath,
  violations: Violations,
): Generator<void, Static<Schema> | undefined> {
  const whole = fits(schema, value) ? value : undefined;
  const found = whole === undefined ? violationsOf(schema, value) : new Violations();
  const parts = whole ?? partsThatFit(schema, value, found);
  yield;
  if (parts !== undefined) yield* checkRules(parts, at, found);
  const inOrder = found.all.toSorted((one, other) => sortKeyOf(one.path) - sortKeyOf(other.path));
  for (const { path, message } of inOrder) violations.add([...at, ...path], message);
  return found.all.length === 0 ? whole : undefined;
}

/** Returns a sort key by scope and route, which groups the schema and rule problems of each route. */
function sortKeyOf([scope = "", , route]: FieldPath): number {
  const scopes: FieldPath = SCOPES;
  return scopes.indexOf(scope) * 1e9 + (typeof route === "number" ? route : -1);
}
