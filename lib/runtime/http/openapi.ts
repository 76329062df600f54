import { VERSION } from "../version.ts";
/**
 * The OpenAPI 3.1 document of a service. The swagger plugin collects paths, parameters and operations; this
 * file makes them exact, since the plugin offers every body as three content types and takes response schemas
 * apart. What a schema may carry for it, beside what JSON Schema knows:
 *
 * - `openapi`: keywords of the document in place of the schema's own, or beside them.
 * - `title`: the schema is written once, under `components.schemas`; another with this title must be equal.
 * - `response_description`: for a response, in place of its `description`.
 * - `response_headers`: a response's headers with their schemas, `{ ETag: Type.String({ description }) }`.
 * - `response_errors`: the errors of a response, each to be shown by an example; see documented-errors.ts.
 *
 * `detail.responses` adds to what `response` gives, such as a second content type.
 */

import { KindGuard, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { isRecord } from "../../domain/json/index.ts";
import { template } from "./app.ts";
import { type CodeSample, operationSamples } from "./code-samples.ts";
import {
  describedError,
  documentedEnvelope,
  type ErrorContext,
  errorExample,
  errorsOf,
} from "./documented-errors.ts";
import { type JsonObject, mapValues, OpenApiSchemas } from "./openapi-schemas.ts";
import { sampleOf } from "./schema-samples.ts";

/** What a service says of its API beside its routes. */
export interface SwaggerOptions {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  /** Larger request bodies are 413. */
  body_bytes_max: number;
  /** What every operation needs; adds an Authorize button. */
  credential?: Credential;
  /** Where samples of calls find the service: the name of a variable in braces, such as `${IDENTITY_URL}`. */
  sample_origin: string;
  /** Headers of every response, by name with their schemas. */
  response_headers?: Record<string, TSchema>;
}

/** A credential in a request's header. */
export interface Credential {
  /** Of the security scheme. */
  name: string;
  scheme: { type: "http"; scheme: "bearer" } | { type: "apiKey"; in: "header"; name: string };
  description: string;
  /** The header in samples of calls, its value with the name of a variable in braces. */
  sample: readonly [name: string, value: string];
}

/** OpenAPI text, for `detail.requestBody`, of a body that its route reads itself (`parse_bodies: false`). */
export function describedBody(
  schema: TSchema,
  description: string,
  contentTypes: readonly string[] = [JSON_TYPE],
): NonNullable<DocumentDecoration["requestBody"]> {
  return {
    required: true,
    description,
    content: Object.fromEntries(contentTypes.map((type) => [type, { schema: asOpenApi(schema) }])),
  };
}

/** A TypeBox schema is JSON Schema, which OpenAPI 3.1 holds as it is. */
export function asOpenApi(schema: TSchema): Record<string, never> {
  // biome-ignore lint/plugin: see above
  return schema as TSchema & Record<string, never>;
}

const LICENSE = { name: "MIT", identifier: "MIT" };
const DOCUMENT_PATH = "/swagger/json";
const JSON_TYPE = "application/json";
/** Types of a response schema that means no body. */
const EMPTY_BODIES: unknown[] = [undefined, "void", "undefined", "null"];

const AUTHENTICATE = {
  "WWW-Authenticate": Type.Literal("Bearer", { description: "How to authenticate." }),
};

/** Describes every route of `app` that does not say `detail.hide`. */
export async function openApiDocument(app: AnyElysia, options: SwaggerOptions): Promise<JsonObject> {
  const routes = describedRoutes(app);
  const document = new DocumentWriter(routes, options);
  const { paths } = await collect(routes);
  const hooksOf = (method: string, path: string) =>
    routes.find((each) => each.method.toLowerCase() === method && template(each.path) === path)?.hooks ?? {};
  const described = mapValues(paths, (operations, path) =>
    mapValues(operations, (operation, method) =>
      document.operation({ method, path }, isRecord(operation) ? operation : {}, hooksOf(method, path)),
    ),
  );
  const { credential } = options;
  return {
    openapi: "3.1.0",
    info: { title: options.title, description: options.description, version: VERSION, license: LICENSE },
    servers: [{ url: "/", description: "This service." }],
    tags: options.tags,
    security: credential === undefined ? [] : [{ [credential.name]: [] }],
    paths: described,
    components: {
      schemas: document.schemas.components,
      ...(credential !== undefined && {
        securitySchemes: {
          [credential.name]: { ...credential.scheme, description: credential.description },
        },
      }),
    },
  };
}

/** What the plugin makes of the app's routes. It is loaded here, since a service without documents needs none of it. */
async function collect(routes: readonly DescribedRoute[]): Promise<JsonObject> {
  const { swagger } = await import("@elysiajs/swagger");
  const described = new Elysia();
  for (const { method, path, hooks } of routes) described.route(method, path, "", hooks);
  // a path with a dot is left out otherwise, as a file
  described.use(swagger({ path: "/swagger", specPath: DOCUMENT_PATH, excludeStaticFile: false }));
  const response = await described.handle(new Request(`http://localhost${DOCUMENT_PATH}`));
  const document: unknown = await response.json();
  return isRecord(document) ? document : {};
}

interface DescribedRoute {
  method: string;
  path: string;
  /** What it was registered with, and the guards around it. */
  hooks: JsonObject;
}

/** Parts of a request that a route and the guards around it describe together, by an object each. */
const REQUEST_PARTS = ["params", "query", "headers", "body"];

function describedRoutes(app: AnyElysia): DescribedRoute[] {
  return app.routes.map(({ method, path, hooks }) => {
    const { detail, response, standaloneValidator: guards = [], ...own } = hooks;
    const layers = [...guards, { ...own, response }];
    const parts = REQUEST_PARTS.map((part) => [
      part,
      together(layers.map((layer) => layer[part]).filter(isSchema)),
    ]);
    const responses = Object.assign({}, ...layers.map((layer) => layer.response));
    return { method, path, hooks: { ...Object.fromEntries(parts), detail, response: responses } };
  });
}

/** One schema in the place of several objects, as Elysia checks them. */
function together(schemas: readonly TSchema[]): TSchema | undefined {
  if (schemas.length < 2) return schemas[0];
  return Object.assign({}, ...schemas, {
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
    required: schemas.flatMap(({ required = [] }) => required),
  });
}

/** Describes the operations of one service. */
class DocumentWriter {
  readonly schemas = new OpenApiSchemas();
  readonly #options: SwaggerOptions;
  /** The body of every error, with the details of the codes that this service has. */
  readonly #envelope: TSchema;

  constructor(routes: readonly DescribedRoute[], options: SwaggerOptions) {
    this.#options = options;
    const responses = routes.flatMap(({ hooks }) => Object.values(mapValues(hooks.response, (each) => each)));
    this.#envelope = documentedEnvelope(
      new Set(responses.flatMap(errorsOf).map((error) => describedError(error).code)),
    );
  }

  /** @param collected what the plugin made of the route */
  operation(at: { method: string; path: string }, collected: JsonObject, hooks: JsonObject): JsonObject {
    const { parameters: listed, requestBody, responses: _, ...rest } = collected;
    const parameters = Array.isArray(listed) ? listed.map((each) => this.#parameter(each)) : [];
    const body = isSchema(hooks.body) ? checkedBody(hooks.body) : requestBody;
    const content = isRecord(body) ? this.schemas.convertContent(body.content) : {};
    return {
      ...rest,
      ...(parameters.length > 0 && { parameters }),
      ...(isRecord(body) && { requestBody: { ...body, content } }),
      responses: this.#responses(hooks, parameters),
      "x-codeSamples": this.#samples(at, parameters, content),
    };
  }

  #samples(
    { method, path }: { method: string; path: string },
    parameters: readonly JsonObject[],
    content: JsonObject,
  ): CodeSample[] {
    const { credential, sample_origin } = this.#options;
    const [first] = Object.entries(content);
    const schema = isRecord(first?.[1]) ? first[1].schema : undefined;
    const lookUp = (ref: string) => this.schemas.components[ref.slice(ref.lastIndexOf("/") + 1)];
    return operationSamples({
      method: method.toUpperCase(),
      path,
      origin: sample_origin,
      credential: credential === undefined ? [] : [credential.sample],
      parameters,
      body: first === undefined ? null : { type: first[0], value: sampleOf(schema, lookUp) },
    });
  }

  #parameter(collected: unknown): JsonObject {
    const { examples, schema, name, ...rest } = isRecord(collected) ? collected : {};
    const { examples: shown, ...typed } = this.schemas.convert({ examples, ...(isRecord(schema) && schema) });
    return {
      ...rest,
      name: rest.in === "header" ? headerName(String(name)) : name,
      schema: typed,
      ...firstExample(shown),
    };
  }

  /** The responses of an operation, by status. */
  #responses(hooks: JsonObject, parameters: readonly JsonObject[]): JsonObject {
    const context: ErrorContext = {
      body: isSchema(hooks.body) ? hooks.body : null,
      query: isSchema(hooks.query) ? hooks.query : null,
      ids: new Map(
        parameters.filter((each) => each.in === "path").map(({ name, example }) => [String(name), example]),
      ),
      body_bytes_max: this.#options.body_bytes_max,
    };
    const added = isRecord(hooks.detail) && isRecord(hooks.detail.responses) ? hooks.detail.responses : {};
    const declared = isRecord(hooks.response) ? hooks.response : {};
    return mapValues({ ...declared, ...added }, (_, status) =>
      this.#response(status, declared[status], added[status], context),
    );
  }

  #response(status: string, declared: unknown, given: unknown, context: ErrorContext): JsonObject {
    const schema = isRecord(declared) ? declared : {};
    const added = isRecord(given) ? given : {};
    const content = { ...this.#content(schema, context), ...(isRecord(added.content) && added.content) };
    const headers = {
      ...this.#options.response_headers,
      ...(isRecord(schema.response_headers) && schema.response_headers),
      ...(status === "401" && this.#options.credential?.scheme.type === "http" && AUTHENTICATE),
    };
    return {
      description: schema.response_description ?? schema.description ?? "Done.",
      ...added,
      ...(Object.keys(headers).length > 0 && { headers: mapValues(headers, (each) => this.#header(each)) }),
      ...(Object.keys(content).length > 0 && { content: this.schemas.convertContent(content) }),
    };
  }

  #content(schema: JsonObject, context: ErrorContext): JsonObject {
    const errors = errorsOf(schema);
    if (errors.length > 0) {
      const examples = errors.map((each) => [
        describedError(each).code,
        { value: errorExample(each, context) },
      ]);
      return { [JSON_TYPE]: { schema: this.#envelope, examples: Object.fromEntries(examples) } };
    }
    const isEmpty = schema.anyOf === undefined && EMPTY_BODIES.includes(schema.type);
    return isEmpty ? {} : { [JSON_TYPE]: { schema } };
  }

  #header(schema: unknown): JsonObject {
    const { description, examples, ...typed } = this.schemas.convert(schema);
    return { description, schema: typed, ...firstExample(examples) };
  }
}

/** Whether a route was given a schema there. */
function isSchema(value: unknown): value is TSchema {
  return KindGuard.IsSchema(value);
}

/** A body that Elysia checks: no body at all is read as an empty object, and may be accepted as one. */
function checkedBody(schema: TSchema): JsonObject {
  return { required: !Value.Check(schema, {}), content: { [JSON_TYPE]: { schema } } };
}

function firstExample(examples: unknown): { example?: unknown } {
  const [example] = Array.isArray(examples) ? examples : [];
  return example === undefined ? {} : { example };
}

/** `if-match` → `If-Match`. */
function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
