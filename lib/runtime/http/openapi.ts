/**
 * The OpenAPI 3.1 document of a service. The swagger plugin collects paths, parameters and operations; this
 * file makes them exact, since the plugin offers every body as three content types and takes response schemas
 * apart. What a schema may carry for it, beside what JSON Schema knows:
 *
 * - `openapi`: keywords of the document in place of the schema's own, or beside them.
 * - `title`: the schema is written once, under `components.schemas`; another with this title must be equal.
 * - `response_description`: for a response, in place of its `description`.
 * - `response_headers`: a response's headers with their schemas, `{ ETag: Type.String({ description }) }`.
 * - `response_errors`: the errors of a response, each to be shown by an example; see error-responses.ts.
 *
 * `detail.responses` adds to what `response` gives, such as a second content type.
 */

import { swagger } from "@elysiajs/swagger";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, Elysia } from "elysia";
import { isRecord } from "../../domain/json/index.ts";
import { template } from "./app.ts";
import { OpenApiResponses } from "./openapi-responses.ts";
import { OpenApiSchemas } from "./openapi-schemas.ts";
import { isSchema, type JsonObject, mapValues } from "./openapi-types.ts";
import { setContext } from "./request-context.ts";
import type { SwaggerOptions } from "./swagger-options.ts";

const LICENSE = { name: "MIT", identifier: "MIT" };
const DOCUMENT_PATH = "/swagger/json";

/** Describes every route of `app` that does not say `detail.hide`. */
export async function openApiDocument(app: AnyElysia, options: SwaggerOptions): Promise<JsonObject> {
  const schemas = new OpenApiSchemas();
  const { paths } = await collect(app);
  const responses = new OpenApiResponses(
    schemas,
    options,
    app.routes.map(({ hooks }) => hooks.response),
  );
  const described = mapValues(paths, (operations, path) =>
    mapValues(operations, (operation, method) =>
      describe(isRecord(operation) ? operation : {}, hooksOf(app, method, path), schemas, responses),
    ),
  );
  const bearer = { type: "http", scheme: "bearer", description: options.bearer_description };
  return {
    openapi: "3.1.0",
    info: { title: options.title, description: options.description, version: "1.0.0", license: LICENSE },
    servers: [{ url: "/", description: "This service." }],
    tags: options.tags,
    security: options.bearer_description === undefined ? [] : [{ bearer: [] }],
    paths: described,
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
  schemas: OpenApiSchemas,
  responses: OpenApiResponses,
): JsonObject {
  const { parameters: collected, requestBody, responses: _, ...rest } = operation;
  const parameters = Array.isArray(collected) ? collected.map((each) => parameter(each, schemas)) : [];
  const body = isSchema(hooks.body) ? checkedBody(hooks.body) : requestBody;
  return {
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(isRecord(body) && { requestBody: { ...body, content: schemas.convertContent(body.content) } }),
    responses: responses.of(hooks, parameters),
  };
}

/** A body that Elysia checks: no body at all is read as an empty object, and may be accepted as one. */
function checkedBody(schema: TSchema): JsonObject {
  return { required: !Value.Check(schema, {}), content: { "application/json": { schema } } };
}

function parameter(collected: unknown, schemas: OpenApiSchemas): JsonObject {
  const { examples, schema, name, ...rest } = isRecord(collected) ? collected : {};
  const converted = schemas.convert({ examples, ...(isRecord(schema) && schema) });
  const { examples: shown, ...typed } = converted;
  const [example] = Array.isArray(shown) ? shown : [];
  return {
    ...rest,
    name: rest.in === "header" ? headerName(String(name)) : name,
    schema: typed,
    ...(example !== undefined && { example }),
  };
}

/** `if-match` → `If-Match`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
