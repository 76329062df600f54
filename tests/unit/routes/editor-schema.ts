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
  return !BEYOND_JSON_SCHEMA.some((each) => each.test(message));
}

/** The messages of apply for rules that JSON Schema cannot describe: they join fields or routes, or count bytes. */
const BEYOND_JSON_SCHEMA: readonly RegExp[] = [
  /is declared already/,
  /has no policy/,
  /is not a param of the path/,
  /occurs twice in this path/,
  /The full path|A path can have at most/,
  /The host of the url/,
  /Set window_seconds|window_seconds or period, not both/,
  /The period of the limit applies to every plan/,
  /Only organization and member routes can have plans/,
  /listed twice|have the same window/,
  /bytes of JSON/,
];
