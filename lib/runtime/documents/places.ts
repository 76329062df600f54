import { parseEvents } from "js-yaml";
import type { FieldPath } from "../../domain/errors/index.ts";
import { JSON_DEPTH_MAX, tryJson } from "../../domain/json/index.ts";
import { placeAt, type TextPosition } from "./invalid-text.ts";
import { type Located, ValueBuilder } from "./yaml-value.ts";

/**
 * Returns the position of each path in a text that has been parsed. A path that does not exist, or leads into an alias,
 * has the position of its nearest parent.
 */
export function locate(text: string, paths: readonly FieldPath[]): TextPosition[] {
  const isJson = tryJson(text, JSON.parse) !== undefined;
  // Valid JSON has tabs and line breaks only between tokens, and can be parsed as YAML without them.
  const yaml = isJson ? text.replace(/[\t\r\n]/g, " ") : text;
  const builder = new ValueBuilder(yaml, () => {}, true);
  for (const event of parseEvents(yaml, { maxDepth: 2 * JSON_DEPTH_MAX })) builder.take(event);
  const { top } = builder;
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
