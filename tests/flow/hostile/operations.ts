/** An operation of a service, as its OpenAPI document or this folder says. */
export interface Operation {
  method: string;
  /** With `{param}`s. */
  path: string;
  /** Names of query parameters and headers. */
  query: string[];
  headers: string[];
  /** Names of fields of the body, the nested ones with their parents in front: `actor.member_id`. */
  fields: string[];
}

type Json = Record<string, unknown>;

/** Every operation of the document at `url`. */
export async function documentedOperations(url: string): Promise<Operation[]> {
  const document: Json = JSON.parse(await (await fetch(`${url}/swagger/json`)).text());
  return Object.entries(object(document.paths)).flatMap(([path, operations]) =>
    Object.entries(object(operations)).map(([method, operation]) => {
      const { parameters, requestBody } = object(operation);
      const named = (place: string) =>
        list(parameters)
          .map((each) => resolved(document, each))
          .filter((each) => each.in === place)
          .map(({ name }) => String(name));
      const content = object(resolved(document, requestBody).content);
      const schemas = Object.values(content).map((media) => object(media).schema);
      return {
        method: method.toUpperCase(),
        path,
        query: named("query"),
        headers: named("header"),
        fields: [...new Set(schemas.flatMap((schema) => fieldsOf(document, schema)))],
      };
    }),
  );
}

function fieldsOf(document: Json, schema: unknown, depth = 0): string[] {
  if (depth === 3) return [];
  const { properties, anyOf, oneOf, allOf } = resolved(document, schema);
  const own = Object.entries(object(properties)).flatMap(([name, property]) => [
    name,
    ...fieldsOf(document, property, depth + 1).map((inner) => `${name}.${inner}`),
  ]);
  const parts = [anyOf, oneOf, allOf].flatMap(list);
  return [...own, ...parts.flatMap((part) => fieldsOf(document, part, depth))];
}

function resolved(document: Json, value: unknown): Json {
  const { $ref } = object(value);
  if (typeof $ref !== "string") return object(value);
  return $ref
    .split("/")
    .slice(1)
    .reduce((part: Json, name) => object(part[name]), document);
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The operations of internal ports, which have no document. */
export const internalOperations: Record<"identity" | "audit", Operation[]> = {
  identity: [
    operation("POST", "/internal/credentials/validate", ["idp", "idp.issuer", "idp.subject", "credential"]),
    operation("GET", "/internal/lifecycle-events", [], ["limit", "starting_after"]),
  ],
  audit: [
    operation("PUT", "/internal/events/{request_id}", [
      ..."occurred_at organization_id user_id actor service method route params ip user_agent".split(" "),
      "actor.member_id",
      "actor.auth_type",
      "actor.key_prefix",
      "params.x",
    ]),
    operation("PATCH", "/internal/events/{request_id}", [
      ..."outcome status details created_id organization_id member_id details.x".split(" "),
    ]),
    operation("POST", "/internal/intents", ["intents"]),
    operation("POST", "/internal/outcomes", ["outcomes"]),
  ],
};

/** What every port has. */
export const probes: Operation[] = [
  operation("GET", "/health/live"),
  operation("GET", "/health/ready"),
  operation("GET", "/metrics"),
];

function operation(method: string, path: string, fields: string[] = [], query: string[] = []): Operation {
  return { method, path, query, headers: [], fields };
}
