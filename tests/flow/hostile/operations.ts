import { isObject, type OpenApiDocument, operationsIn, resolved } from "../../support/openapi.ts";

/** An operation of a service, from the OpenAPI description of its port. */
export interface Operation {
  method: string;
  /** The path with its `{param}`s. */
  path: string;
  /** The names of query parameters and headers. */
  query: string[];
  headers: string[];
  /** The names of the body's fields; nested ones have their parents in front: `actor.member_id`. */
  fields: string[];
}

/** Returns every operation of the port at `url`. */
export async function describedOperations(url: string): Promise<Operation[]> {
  const description: OpenApiDocument = JSON.parse(await (await fetch(`${url}/swagger/json`)).text());
  return operationsIn(description).map(({ method, path, parameters = [], requestBody }) => {
    const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
    const schemas = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema);
    const fields = new Set(schemas.flatMap((schema) => fieldsOf(description, schema)));
    return { method, path, query: named("query"), headers: named("header"), fields: [...fields] };
  });
}

/** Returns the names of properties. A map has the member `x`. */
function fieldsOf(description: OpenApiDocument, given: unknown, depth = 0): string[] {
  if (depth === 3 || !isObject(given)) return [];
  const { properties, additionalProperties, anyOf, oneOf, allOf } = resolved(description, given);
  const members = Object.entries(isObject(properties) ? properties : {});
  if (isObject(additionalProperties)) members.push(["x", additionalProperties]);
  const own = members.flatMap(([name, property]) => [
    name,
    ...fieldsOf(description, property, depth + 1).map((inner) => `${name}.${inner}`),
  ]);
  const parts = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...own, ...parts.flatMap((part) => fieldsOf(description, part, depth))];
}

/** The operations of every port. */
export const probes: Operation[] = ["/health/live", "/health/ready", "/metrics"].map((path) => ({
  method: "GET",
  path,
  query: [],
  headers: [],
  fields: [],
}));
