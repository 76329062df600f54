import { isRecord } from "@ostiary/lib/domain/json";
import type { JsonObject } from "@ostiary/lib/runtime/http";

/** Keywords whose schemas hold for the same value as the schema that they stand in. */
const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const PREFIX = "#/components/schemas/";

/**
 * Cuts the circles among components in which a schema is made of itself (`A: {allOf: [A]}`): such a schema says
 * nothing, and readers of the document would follow it for ever. A tree, whose nodes hold nodes, is no such circle.
 * References are taken out of `components`, a step for each component.
 */
export function* cutCircles(components: ReadonlyMap<string, JsonObject>): Generator<void> {
  const done = new Set<string>();
  for (const start of components.keys()) {
    if (done.has(start)) continue;
    const open = new Set([start]);
    const path = [{ name: start, references: references(components.get(start)) }];
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const holder = last.references.pop();
      if (holder === undefined) {
        open.delete(last.name);
        done.add(last.name);
        path.pop();
        yield;
        continue;
      }
      const name = String(holder.$ref).slice(PREFIX.length);
      if (open.has(name)) delete holder.$ref;
      else if (!done.has(name) && components.has(name)) {
        open.add(name);
        path.push({ name, references: references(components.get(name)) });
      }
    }
  }
}

/** The schemas that refer to a component from the place of `schema` itself. */
function references(schema: unknown): JsonObject[] {
  if (!isRecord(schema)) return [];
  const inside = IN_PLACE.flatMap((keyword) => {
    const value = schema[keyword];
    return (Array.isArray(value) ? value : [value]).flatMap(references);
  });
  return typeof schema.$ref === "string" ? [schema, ...inside] : inside;
}
