import { isRecord } from "@ostiary/lib/domain/json";
import { type OpenApiDocument, operationsIn, resolved } from "../../support/http/openapi.ts";

export interface Operation {
  method: string;
  path: string;
  query: string[];
  headers: string[];
  /** The paths of the body's fields. A nested field has the path `actor.member_id`. */
  fields: string[];
}

/** Returns every operation that the port at `url` describes. */
export async function describedOperations(url: string): Promise<Operation[]> {
  const description: OpenApiDocument = JSON.parse(await (await fetch(`${url}/swagger/json`)).text());
  return operationsIn(description).map(({ method, path, parameters = [], requestBody }) => {
    const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
    const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema);
    const fields = new Set(schemas.flatMap((schema) => fieldsOf(description, schema)));
    return { method, path, query: named("query"), headers: named("header"), fields: [...fields] };
  });
}

/**
 * Returns the paths of a schema's properties, up to three levels. A map counts as an object with the property
 * `x`.
 */
function fieldsOf(description: OpenApiDocument, given: unknown, depth = 0): string[] {
  if (depth === 3 || !isRecord(given)) return [];
  const { properties, additionalProperties, anyOf, oneOf, allOf } = resolved(description, given);
  const members = Object.entries(isRecord(properties) ? properties : {});
  if (isRecord(additionalProperties)) members.push(["x", additionalProperties]);
  const own = members.flatMap(([name, property]) => [
    name,
    ...fieldsOf(description, property, depth + 1).map((inner) => `${name}.${inner}`),
  ]);
  const parts = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...own, ...parts.flatMap((part) => fieldsOf(description, part, depth))];
}

/** The operations of every internal port, which no description contains. */
export const probes: Operation[] = ["/health/live", "/health/ready", "/metrics"].map((path) => ({
  method: "GET",
  path,
  query: [],
  headers: [],
  fields: [],
}));
