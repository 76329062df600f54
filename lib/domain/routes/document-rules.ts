/** Checks several configuration documents: each document alone, then all documents together. */
import { FIELD_ERRORS_MAX, type FieldPath, quoted } from "../errors/index.ts";
import { findPolicyConflicts } from "./policy-conflicts.ts";
import { conflictText, findRouteConflicts, type RouteConflict } from "./route-conflicts.ts";
import { tableOf } from "./route-table.ts";
import { failureOf, type Roles, testFailed } from "./run-route-test.ts";
import { SCOPES, type ServiceConfig } from "./service-schema.ts";
import { joinPrefix, methodsOf } from "./stored-form.ts";
import { type DocumentService, readDocument } from "./validate.ts";

/** The rules for documents, each with its text. Each problem names the rule that the document breaks. */
export const DOCUMENT_RULES = {
  "invalid-document": "A configuration document is valid YAML or JSON.",
  "invalid-field": "Each field of a document has a value that apply accepts.",
  "repeated-service": "Each service is in only one document, because each apply replaces the whole service.",
  "policy-conflict": "Services that share a rate-limit policy declare it with the same numbers.",
  "route-conflict": "A method and path belong to only one service.",
  "route-test": "The routes of the documents pass the tests of the documents.",
} as const;
export type DocumentRule = keyof typeof DOCUMENT_RULES;

export interface DocumentProblem {
  readonly rule: DocumentRule;
  readonly document: number;
  readonly path: FieldPath;
  readonly message: string;
}

/** The names of a document's valid services, and the number of their tests. */
export interface DocumentContent {
  readonly services: readonly string[];
  readonly tests: number;
}

export interface DocumentsCheck {
  readonly problems: DocumentProblem[];
  readonly contents: DocumentContent[];
}

interface Found extends DocumentService {
  readonly document: number;
}

/**
 * Checks each document, and then the valid services of all documents together. Does not compare them with the
 * published services. If there is no other problem, runs the tests of the documents.
 *
 * Returns at most {@link FIELD_ERRORS_MAX} problems of each of these kinds: wrong fields of one document,
 * policy conflicts, route conflicts.
 *
 * @param names the name of each document in messages
 */
export function checkDocuments(
  documents: readonly unknown[],
  { names, roles }: { names: readonly string[]; roles: Roles },
): DocumentsCheck {
  const found = new Map<string, Found>();
  const problems: DocumentProblem[] = [];
  const contents = documents.map((value, document) => {
    const read = readDocument(value);
    for (const violation of read.violations.all)
      problems.push({ rule: "invalid-field", document, ...violation });
    for (const [name, service] of read.services) {
      const first = found.get(name);
      if (first === undefined) found.set(name, { ...service, document });
      else problems.push(repeated(name, document, names[first.document] ?? ""));
    }
    const tests = [...read.services.values()].reduce((sum, { testPaths }) => sum + testPaths.length, 0);
    return { services: [...read.services.keys()], tests };
  });
  problems.push(...problemsBetween(found));
  if (problems.length === 0) problems.push(...failedTests(found, roles));
  return { problems, contents };
}

function failedTests(found: ReadonlyMap<string, Found>, roles: Roles): DocumentProblem[] {
  const table = tableOf(new Map([...found].map(([name, { stored }]) => [name, stored])));
  return [...found].flatMap(([, { stored, document, testPaths }]) =>
    (stored.tests ?? []).flatMap((test, index) => {
      const failure = failureOf(test, table, roles);
      const path = testPaths[index] ?? [];
      if (failure === null) return [];
      return [{ rule: "route-test" as const, document, path, message: testFailed(test, failure) }];
    }),
  );
}

function repeated(service: string, document: number, first: string): DocumentProblem {
  const message = `The service ${quoted(service)} is also in ${first}: keep the service in one document.`;
  return { rule: "repeated-service", document, path: ["services", service], message };
}

function problemsBetween(found: ReadonlyMap<string, Found>): DocumentProblem[] {
  const stored = new Map([...found].map(([name, service]) => [name, service.stored]));
  const at = (service: string, path: FieldPath) => ({
    document: found.get(service)?.document ?? 0,
    path: ["services", service, ...path],
  });
  const policies = findPolicyConflicts(stored, [])
    .slice(0, FIELD_ERRORS_MAX)
    .map(({ service, name, message }) => ({
      rule: "policy-conflict" as const,
      ...at(service, ["rate_limits", name]),
      message,
    }));
  const routes = findRouteConflicts(stored, [])
    .slice(0, FIELD_ERRORS_MAX)
    .map((conflict) => ({
      rule: "route-conflict" as const,
      ...at(conflict.service, routeIn(found.get(conflict.service)?.written, conflict)),
      message: `${conflictText(conflict)}.`,
    }));
  return [...policies, ...routes];
}

/** Returns the path of the field, in the written form of a service, that declares a conflicting route. */
function routeIn(written: ServiceConfig | undefined, { method, path }: RouteConflict): FieldPath {
  for (const scope of SCOPES) {
    const { routes = [], route_prefix } = written?.[scope] ?? {};
    const index = routes.findIndex(
      (route) =>
        joinPrefix(route_prefix, route.path) === path && methodsOf(route).some((each) => each === method),
    );
    if (index >= 0) return [scope, "routes", index, "path"];
  }
  return [];
}
