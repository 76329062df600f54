/** The JSON Schema of the configuration document, as an editor checks by it, and what it can not say. */
import { expect } from "bun:test";
import { validateDocument } from "@ostiary/lib/domain/routes";
import Ajv from "ajv";
import { documentSchema } from "../../../apps/registry/schema/document-schema.ts";

// the words of an error for editors, which validators skip
const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  keywords: ["patternErrorMessage"],
});
const validate = ajv.compile(documentSchema());

/** Whether an editor finds nothing wrong with a document. */
export function editorAccepts(document: unknown): boolean {
  return validate(document);
}

/** That an editor finds the same of a document as apply does, but for what JSON Schema can not say. */
export function expectEditorToAgree(document: unknown): void {
  const result = validateDocument(document);
  if (result.ok) expect([document, editorAccepts(document)]).toEqual([document, true]);
  else if (editorAccepts(document))
    expect([document, result.fields.filter(isSayable)]).toEqual([document, []]);
}

function isSayable({ message }: { message: string }): boolean {
  return !BEYOND_JSON_SCHEMA.some((each) => each.message.test(message));
}

/** The rules that JSON Schema can not say, as the registry's README lists them, by what apply says of them. */
export const BEYOND_JSON_SCHEMA: { rule: string; message: RegExp }[] = [
  { rule: "Two routes of a service have one method and full path.", message: /is declared already/ },
  { rule: "`rate_limit` names a policy that the service does not have.", message: /has no policy/ },
  { rule: "`{path.…}` in `upstream` names no param of the path.", message: /names no param of the path/ },
  { rule: "A param stands twice in a full path.", message: /stands twice in this path/ },
  {
    rule: "A `route_prefix` and a path are too long together, or have too many params.",
    message: /The full path|A path has at most/,
  },
  {
    rule: "The host of the url is no IPv6 address, or no name that can be an international one.",
    message: /The host of the url/,
  },
  { rule: "A service or a document is too large.", message: /bytes of JSON/ },
];
