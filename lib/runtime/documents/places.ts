import type { FieldPath } from "../../domain/errors/index.ts";
import { type Place, placeAt } from "./invalid-body.ts";
import type { Located } from "./located.ts";
import { yamlPlaces } from "./yaml-places.ts";

/**
 * Returns the place of each path in a document of JSON or YAML. A part that is missing from the text, or that
 * an alias repeats, gets the place of the nearest part around it.
 *
 * @param text a text that was read without an error
 */
export function locate(text: string, paths: readonly FieldPath[]): Place[] {
  const top = yamlPlaces(isJson(text) ? onOneLine(text) : text);
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Converts JSON to YAML with the same offsets. Tabs and line breaks, which JSON allows only between tokens,
 * become spaces.
 */
function onOneLine(json: string): string {
  return json.replace(/[\t\r\n]/g, " ");
}
