/**
 * Checks documents against the document schema, like an editor, and lists the rules that JSON Schema cannot
 * describe.
 */
import { expect } from "bun:test";
import { validateDocument } from "@ostiary/lib/domain/routes";
import Ajv from "ajv";
import { documentSchema } from "../../../apps/registry/document-schema/document-schema.ts";

const ajv = new Ajv({ strict: true });
const validate = ajv.compile(documentSchema());

/** Returns whether a document matches the document schema, so that an editor shows no error. */
export function editorAccepts(document: unknown): boolean {
  return validate(document);
}

/** Expects that an editor and apply agree on a document, except for the rules that JSON Schema cannot describe. */
export function expectEditorToAgree(document: unknown): void {
  const result = validateDocument(document);
  if (result.ok) expect([document, editorAccepts(document)]).toEqual([document, true]);
  else if (editorAccepts(document))
    expect([document, result.fields.filter(isDescribable)]).toEqual([document, []]);
}

function isDescribable({ message }: { message: string }): boolean {
  return !BEYOND_JSON_SCHEMA.some((each) => each.message.test(message));
}

/** The rules that JSON Schema cannot describe, in the words of the registry's README, with the messages of apply. */
export const BEYOND_JSON_SCHEMA: { rule: string; message: RegExp }[] = [
  { rule: "Two routes of a service have one method and full path.", message: /is declared already/ },
  { rule: "`rate_limit` names a policy that the service does not have.", message: /has no policy/ },
  { rule: "`{path.…}` in `upstream` names no param of the path.", message: /is not a param of the path/ },
  { rule: "A full path has the same param twice.", message: /occurs twice in this path/ },
  {
    rule: "A `route_prefix` and a path are too long together, or have too many params.",
    message: /The full path|A path can have at most/,
  },
  {
    rule: "The host of the url is not a valid IPv6 address, or not a valid international name.",
    message: /The host of the url/,
  },
  {
    rule: "A limit has neither window_seconds nor period, or both.",
    message: /Set window_seconds|window_seconds or period, not both/,
  },
  {
    rule: "A limit with a period has a plan with window_seconds.",
    message: /The period of the limit applies to every plan/,
  },
  {
    rule: "A public or user route has a limit with plans.",
    message: /Only organization and member routes can have plans/,
  },
  {
    rule: "A list of limits names a policy twice, or has two inline limits of one window.",
    message: /listed twice|have the same window/,
  },
  { rule: "A service or a document is too large.", message: /bytes of JSON/ },
];
