/**
 * The OpenAPI 3.1 document of a service. The swagger plugin collects paths, parameters and operations; this
 * file makes them exact, since the plugin offers every body as three content types and takes response schemas
 * apart. What a schema may carry for it, beside what JSON Schema knows:
 *
 * - `title`: the schema is written once, under `components.schemas`; another with this title must be equal.
 * - `response_description`: for a response, in place of its `description`.
 * - `response_headers`: a response's headers, `{ ETag: "The revision." }`.
 *
 * `detail.responses` adds to what `response` gives, such as a second content type.
 */
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { template } from "./app.ts";
import { OpenApiSchemas } from "./openapi-schemas.ts";
import { isRecord, type JsonObject } from "./openapi-types.ts";
import { setContext } from "./request-context.ts";

export interface SwaggerOptions {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** Adds an Authorize button for a bearer token that every operation needs. */
  bearer_description?: string;
  /** Headers of every response, by name with their descriptions. */
  response_headers?: Record<string, string>;
}

const LICENSE = { name: "MIT", identifier: "MIT" };
const JSON_TYPE = "application/json";
const DOCUMENT_PATH = "/swagger/json";
const EMPTY_BODIES: unknown[] = ["void", "undefined", "null"];

/** Describes every route of `app` that does not say `detail.hide`. */
export async function openApiDocument(app: AnyElysia, options: SwaggerOptions): Promise<JsonObject> {
  const schemas = new OpenApiSchemas();
  const { paths } = await collect(app);
  const described = Object.entries(isRecord(paths) ? paths : {}).map(([path, operations]) => [
    path,
    mapValues(operations, (operation, method) =>
      describe(isRecord(operation) ? operation : {}, hooksOf(app, method, path), options, schemas),
    ),
  ]);
  const bearer = { type: "http", scheme: "bearer", description: options.bearer_description };
  return {
    openapi: "3.1.0",
    info: { title: options.title, description: options.description, version: "1.0.0", license: LICENSE },
    servers: [{ url: "/", description: "This service." }],
    tags: options.tags,
    security: options.bearer_description === undefined ? [] : [{ bearer: [] }],
    paths: Object.fromEntries(described),
    components: {
      schemas: schemas.components,
      ...(options.bearer_description !== undefined && { securitySchemes: { bearer } }),
    },
  };
}

/** What the plugin makes of the app's routes. */
async function collect(app: AnyElysia): Promise<JsonObject> {
  const described = new Elysia().use(app).use(swagger({ path: "/swagger", specPath: DOCUMENT_PATH }));
  const request = new Request(`http://localhost${DOCUMENT_PATH}`);
  setContext(request, { request_id: "", trace: null, route: null, subject: {} });
  const response = await described.handle(request);
  const document: unknown = await response.json();
  return isRecord(document) ? document : {};
}

/** The schemas that a route was registered with. */
function hooksOf(app: AnyElysia, method: string, path: string): JsonObject {
  const route = app.routes.find(
    (each) => each.method.toLowerCase() === method && template(each.path) === path,
  );
  return isRecord(route?.hooks) ? route.hooks : {};
}

function describe(
  operation: JsonObject,
  hooks: JsonObject,
  options: SwaggerOptions,
  schemas: OpenApiSchemas,
): JsonObject {
  const { parameters, requestBody, responses: _, ...rest } = operation;
  const body = hooks.body === undefined ? requestBody : { required: true, content: json(hooks.body) };
  const given = isRecord(hooks.detail) && isRecord(hooks.detail.responses) ? hooks.detail.responses : {};
  const answered = mapValues(hooks.response, (schema) => schema);
  const statuses = new Set([...Object.keys(answered), ...Object.keys(given)]);
  return {
    ...rest,
    ...(Array.isArray(parameters) && { parameters: parameters.map((each) => parameter(each, schemas)) }),
    ...(isRecord(body) && { requestBody: withSchemas(body, schemas) }),
    responses: Object.fromEntries(
      [...statuses].map((status) => [
        status,
        response(status, answered[status], given[status], options, schemas),
      ]),
    ),
  };
}

function parameter(collected: unknown, schemas: OpenApiSchemas): JsonObject {
  const { examples, schema, name, ...rest } = isRecord(collected) ? collected : {};
  const [example] = Array.isArray(examples) ? examples : [];
  return {
    ...rest,
    name: rest.in === "header" ? headerName(String(name)) : name,
    schema: schemas.convert(schema),
    ...(example !== undefined && { example }),
  };
}

/** `if-match` → `If-Match`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

function response(
  status: string,
  schema: unknown,
  given: unknown,
  options: SwaggerOptions,
  schemas: OpenApiSchemas,
): JsonObject {
  const own = isRecord(schema) ? schema : {};
  const added = isRecord(given) ? given : {};
  const headers: JsonObject = {
    ...options.response_headers,
    ...(isRecord(own.response_headers) ? own.response_headers : {}),
    ...(status === "401" && options.bearer_description !== undefined && { "WWW-Authenticate": "`Bearer`." }),
  };
  const isEmpty = schema === undefined || EMPTY_BODIES.includes(own.type);
  const content = { ...(isEmpty ? {} : json(own)), ...(isRecord(added.content) ? added.content : {}) };
  return {
    description: own.response_description ?? own.description ?? "Done.",
    ...added,
    ...(Object.keys(headers).length > 0 && {
      headers: mapValues(headers, (description) => ({ description, schema: { type: "string" } })),
    }),
    ...(Object.keys(content).length > 0 && withSchemas({ content }, schemas)),
  };
}

function json(schema: unknown): JsonObject {
  return { [JSON_TYPE]: { schema } };
}

/** A request body or response with the schemas of its content converted. */
function withSchemas(body: JsonObject, schemas: OpenApiSchemas): JsonObject {
  const content = mapValues(body.content, (media) =>
    isRecord(media) && media.schema !== undefined
      ? { ...media, schema: schemas.convert(media.schema) }
      : media,
  );
  return { ...body, content };
}

function mapValues(values: unknown, map: (value: unknown, key: string) => unknown): JsonObject {
  if (!isRecord(values)) return {};
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}
