import { nestedTooDeeply } from "../../domain/errors/index.ts";
import { outlineJson, repeatedName, tryJson, tryUtf8 } from "../../domain/json/index.ts";
import { type InvalidText, invalidAt, invalidText, type TextKind } from "./invalid-text.ts";
import { jsonSyntaxError } from "./json-syntax-error.ts";
import { parseYaml } from "./yaml.ts";

/** Throws a 422 for bytes that are not UTF-8, and for an empty text. */
export function decodeUtf8(bytes: Uint8Array, kind: TextKind = "body"): string {
  const text = tryUtf8(bytes);
  if (text === undefined) throw invalidText(`The ${kind} is not valid UTF-8.`);
  if (text.trim() === "") throw invalidText(`The ${kind} is empty.`);
  return text;
}

/** Parses a YAML document. YAML includes JSON (RG-34). */
export function parseText(text: string, kind?: TextKind): unknown {
  // JSON means the same in YAML, but the JSON parser is much faster
  const value = text.trimStart().startsWith("{") ? checkedJson(text) : undefined;
  return value === undefined ? parseYaml(text, { kind }) : value;
}

export function parseJsonText(text: string, kind: TextKind = "body"): unknown {
  const value = checkedJson(text);
  if (value === undefined) throw notJson(text, kind);
  return value;
}

function notJson(text: string, kind: TextKind): InvalidText {
  const error = jsonSyntaxError(text);
  if (error === null) return invalidText(`The ${kind} is not valid JSON.`);
  return invalidAt(text, error.offset, "The JSON is not valid", `: ${error.reason}`);
}

/** Returns undefined if the text is not JSON. Throws a 422 for too deep nesting and for a duplicate key. */
function checkedJson(text: string): unknown {
  if (outlineJson(text).tooDeepAt !== null) throw invalidText(nestedTooDeeply("The document").message);
  const value = tryJson(text, JSON.parse);
  if (value !== undefined && repeatedName(text) !== null) {
    throw invalidText("The JSON has an object with the same key twice.");
  }
  return value;
}
