import { isRecord } from "../domain/json/index.ts";
import type { JsonObject } from "../openapi/index.ts";

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const PREFIX = "#/components/schemas/";

/**
 * Removes each reference through which a schema includes itself (`A: {allOf: [A]}`), because readers of the
 * description would follow it forever. Keeps recursive properties, such as a tree node with child nodes.
 * Changes `components` in place and yields between short steps.
 */
export function* cutCycles(components: ReadonlyMap<string, JsonObject>): Generator<void> {
  const done = new Set<string>();
  for (const start of components.keys()) {
    const open = new Set<string>();
    const path: { name: string; references: Iterator<JsonObject> }[] = [];
    const enter = (name: string) => {
      if (done.has(name) || !components.has(name)) return;
      open.add(name);
      path.push({ name, references: references(components.get(name)) });
    };
    enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      yield;
      const { done: isLast, value: holder } = last.references.next();
      if (isLast) {
        open.delete(last.name);
        done.add(last.name);
        path.pop();
        continue;
      }
      const name = String(holder.$ref).slice(PREFIX.length);
      if (open.has(name)) delete holder.$ref;
      else enter(name);
    }
  }
}

/** Yields every part of `schema` that has a `$ref` and applies to the same value as `schema`. */
function* references(schema: unknown): Generator<JsonObject, undefined> {
  if (Array.isArray(schema)) for (const part of schema) yield* references(part);
  if (!isRecord(schema)) return;
  if (typeof schema.$ref === "string") yield schema;
  for (const keyword of IN_PLACE) yield* references(schema[keyword]);
}
