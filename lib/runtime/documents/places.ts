import type { FieldPath } from "../../domain/errors/index.ts";
import { tryJson } from "../../domain/json/index.ts";
import { type Place, placeAt } from "./invalid-text.ts";
import { type Located, yamlPlaces } from "./yaml-places.ts";

/**
 * Returns the position of each path in a JSON or YAML document. If a path does not exist in the text, or
 * leads into an alias, the result is the position of its nearest existing parent.
 *
 * @param text a text that has been parsed without an error
 */
export function locate(text: string, paths: readonly FieldPath[]): Place[] {
  const isJson = tryJson(text, JSON.parse) !== undefined;
  const top = yamlPlaces(isJson ? onOneLine(text) : text);
  return paths.map((path) => placeAt(offsetOf(top, path), text));
}

function offsetOf(top: Located, path: FieldPath): number {
  let at = top;
  for (const part of path) {
    const next = at.parts.get(part);
    if (next === undefined) break;
    at = next;
  }
  return at.offset;
}

/**
 * Replaces tabs and line breaks with spaces, so the JSON can be parsed as YAML with the same offsets. Valid
 * JSON has these characters only between tokens.
 */
function onOneLine(json: string): string {
  return json.replace(/[\t\r\n]/g, " ");
}
