import { VERSION } from "../version.ts";
/**
 * Builds the OpenAPI 3.1 description of a service. The swagger plugin collects paths, parameters and
 * operations. This file corrects its output, because the plugin offers every body as three content types and
 * splits up response schemas. A schema can have these additional options:
 *
 * - `openapi`: keywords for the description that replace or extend the keywords of the schema.
 * - `title`: the schema is defined once, under `components.schemas`. Schemas with the same title must be
 * equal.
 * - `response_description`: the description of a response, in place of the schema's `description`.
 * - `response_headers`: the headers of a response with their schemas, `{ ETag: Type.String({ description })
 * }`.
 * - `response_errors`: the errors of a response, each with an example; see lib/openapi/documented-errors.ts.
 *
 * An operation's `detail.responses` adds to its `response`, for example a second content type.
 */

import { KindGuard, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import { isRecord } from "../../domain/json/index.ts";
import {
  type CodeSample,
  type CredentialHeader,
  describedError,
  documentedEnvelope,
  type ErrorContext,
  type ErrorDetails,
  errorExample,
  errorsOf,
  type JsonObject,
  mapValues,
  OpenApiSchemas,
  operationSamples,
  type ShellVariable,
  sampleOf,
} from "../../openapi/index.ts";
import { template } from "./app.ts";

/** The parts of a service's description that are not in its routes. */
export interface SwaggerOptions {
  title: string;
  description: string;
  tags: { name: string; description: string }[];
  bodyBytesMax: number;
  /** The credential that every operation requires. With a credential, the page has an Authorize button. */
  credential?: Credential;
  /** The variable of curl commands that has the origin of the service. */
  sampleOrigin: ShellVariable;
  /** The details of errors that differ from the common details, by error code. */
  errorDetails?: ErrorDetails;
  /** The schemas of the headers that every response has, by header name. */
  response_headers?: Record<string, TSchema>;
}

/** A credential that is sent in a request header. */
export interface Credential {
  name: string;
  scheme: { type: "http"; scheme: "bearer" } | { type: "apiKey"; in: "header"; name: string };
  description: string;
  /** The header of curl commands. */
  sample: CredentialHeader;
}

/** For a route that reads its body itself (`parseBodies: false`). */
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

/** Both are JSON Schema. */
export function asOpenApi(schema: TSchema): Record<string, never> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return schema as TSchema & Record<string, never>;
}

export const DESCRIPTION_PATH = "/swagger/json";
const LICENSE = { name: "MIT", identifier: "MIT" };
const JSON_TYPE = "application/json";
/** The values of `type` for a response without a body. */
const EMPTY_BODIES: unknown[] = [undefined, "void", "undefined", "null"];

const AUTHENTICATE = {
  "WWW-Authenticate": Type.Literal("Bearer", {
    description: "The scheme with which the caller authenticates.",
  }),
};

/** Routes with `detail.hide` are left out. */
export async function openApiDescription(app: AnyElysia, options: SwaggerOptions): Promise<JsonObject> {
  const routes = describedRoutes(app);
  const writer = new DescriptionWriter(routes, options);
  const { paths } = await collect(routes);
  const hooksOf = (method: string, path: string) =>
    routes.find((each) => each.method.toLowerCase() === method && template(each.path) === path)?.hooks ?? {};
  const described = mapValues(paths, (operations, path) =>
    mapValues(operations, (operation, method) =>
      writer.operation({ method, path }, isRecord(operation) ? operation : {}, hooksOf(method, path)),
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
      schemas: writer.schemas.components,
      ...(credential !== undefined && {
        securitySchemes: {
          [credential.name]: { ...credential.scheme, description: credential.description },
        },
      }),
    },
  };
}

/** The plugin is loaded only here: a service without API pages does not need it. */
async function collect(routes: readonly DescribedRoute[]): Promise<JsonObject> {
  const { swagger } = await import("@elysiajs/swagger");
  const described = new Elysia();
  for (const { method, path, hooks } of routes) described.route(method, path, "", hooks);
  // The plugin would omit a path with a dot, because its default is to treat the path as a file.
  described.use(swagger({ path: "/swagger", specPath: DESCRIPTION_PATH, excludeStaticFile: false }));
  const response = await described.handle(new Request(`http://localhost${DESCRIPTION_PATH}`));
  const description: unknown = await response.json();
  return isRecord(description) ? description : {};
}

interface DescribedRoute {
  method: string;
  path: string;
  /** The hooks of the route, merged with those of its guards. */
  hooks: JsonObject;
}

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

/** Merges object schemas into one, because Elysia checks a request against each of them. */
function together(schemas: readonly TSchema[]): TSchema | undefined {
  if (schemas.length < 2) return schemas[0];
  return Object.assign({}, ...schemas, {
    properties: Object.assign({}, ...schemas.map(({ properties }) => properties)),
    required: schemas.flatMap(({ required = [] }) => required),
  });
}

class DescriptionWriter {
  readonly schemas = new OpenApiSchemas();
  readonly #options: SwaggerOptions;
  readonly #lookUp = (ref: string) => this.schemas.components[ref.slice(ref.lastIndexOf("/") + 1)];
  /** The schema of every error response. It includes the details of the codes that this service uses. */
  readonly #envelope: TSchema;

  constructor(routes: readonly DescribedRoute[], options: SwaggerOptions) {
    this.#options = options;
    const responses = routes.flatMap(({ hooks }) => Object.values(mapValues(hooks.response, (each) => each)));
    this.#envelope = documentedEnvelope(
      new Set(responses.flatMap(errorsOf).map((error) => describedError(error).code)),
      options.errorDetails,
    );
  }

  /** @param collected the plugin's description of the operation */
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
    const { credential, sampleOrigin } = this.#options;
    const [first] = Object.entries(content);
    const schema = isRecord(first?.[1]) ? first[1].schema : undefined;
    return operationSamples({
      method: method.toUpperCase(),
      path,
      origin: sampleOrigin,
      credential: credential?.sample ?? null,
      parameters,
      body: first === undefined ? null : { type: first[0], value: sampleOf(schema, this.#lookUp) },
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

  #responses(hooks: JsonObject, parameters: readonly JsonObject[]): JsonObject {
    const context: ErrorContext = {
      body: isSchema(hooks.body) ? hooks.body : null,
      query: isSchema(hooks.query) ? hooks.query : null,
      ids: new Map(
        parameters.filter((each) => each.in === "path").map(({ name, example }) => [String(name), example]),
      ),
      bodyBytesMax: this.#options.bodyBytesMax,
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
      ...(Object.keys(content).length > 0 && { content: this.#shown(this.schemas.convertContent(content)) }),
    };
  }

  #shown(content: JsonObject): JsonObject {
    const { [JSON_TYPE]: media } = content;
    if (!isRecord(media) || media.examples !== undefined) return content;
    return { ...content, [JSON_TYPE]: { ...media, example: sampleOf(media.schema, this.#lookUp) } };
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

function isSchema(value: unknown): value is TSchema {
  return KindGuard.IsSchema(value);
}

/** A body is optional if the schema accepts an empty object, as which Elysia treats a missing body. */
function checkedBody(schema: TSchema): JsonObject {
  return { required: !Value.Check(schema, {}), content: { [JSON_TYPE]: { schema } } };
}

function firstExample(examples: unknown): { example?: unknown } {
  const [example] = Array.isArray(examples) ? examples : [];
  return example === undefined ? {} : { example };
}

function headerName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
