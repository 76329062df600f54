import { type TSchema, Type } from "@sinclair/typebox";
import { isRecord } from "../../domain/json/index.ts";
import { type ErrorContext, errorExample } from "./error-examples.ts";
import { type DocumentedError, describedError, documentedEnvelope, errorsOf } from "./error-responses.ts";
import type { OpenApiSchemas } from "./openapi-schemas.ts";
import { isSchema, type JsonObject, mapValues } from "./openapi-types.ts";
import type { SwaggerOptions } from "./swagger-options.ts";

const JSON_TYPE = "application/json";
const EMPTY_BODIES: unknown[] = [undefined, "void", "undefined", "null"];

const authenticate = {
  "WWW-Authenticate": Type.Literal("Bearer", { description: "How to authenticate." }),
};

/** Describes the responses of a service's operations. */
export class OpenApiResponses {
  readonly #schemas: OpenApiSchemas;
  readonly #options: SwaggerOptions;
  /** The body of every error, with the details of the codes that this service has. */
  readonly #envelope: TSchema;

  /** @param all the `response` of every route of the service */
  constructor(schemas: OpenApiSchemas, options: SwaggerOptions, all: readonly unknown[]) {
    this.#schemas = schemas;
    this.#options = options;
    const errors = all
      .flatMap((responses) => (isRecord(responses) ? Object.values(responses) : []))
      .flatMap(errorsOf);
    this.#envelope = documentedEnvelope(new Set(errors.map((error) => describedError(error).code)));
  }

  /** The responses of an operation, by status. */
  of(hooks: JsonObject, parameters: readonly JsonObject[]): JsonObject {
    const context: ErrorContext = {
      body: isSchema(hooks.body) ? hooks.body : null,
      query: isSchema(hooks.query) ? hooks.query : null,
      ids: new Map(
        parameters.filter((each) => each.in === "path").map(({ name, example }) => [String(name), example]),
      ),
      body_bytes_max: this.#options.body_bytes_max,
    };
    const given = isRecord(hooks.detail) && isRecord(hooks.detail.responses) ? hooks.detail.responses : {};
    const answered = mapValues(hooks.response, (schema) => schema);
    const statuses = new Set([...Object.keys(answered), ...Object.keys(given)]);
    return Object.fromEntries(
      [...statuses].map((status) => [
        status,
        this.#response(status, answered[status], given[status], context),
      ]),
    );
  }

  #response(status: string, schema: unknown, given: unknown, context: ErrorContext): JsonObject {
    const own = isRecord(schema) ? schema : {};
    const added = isRecord(given) ? given : {};
    const content = { ...this.#content(own, context), ...mapValues(added.content, (media) => media) };
    const headers = {
      ...this.#options.response_headers,
      ...mapValues(own.response_headers, (header) => header),
      ...(status === "401" && this.#options.bearer_description !== undefined && authenticate),
    };
    return {
      description: own.response_description ?? own.description ?? "Done.",
      ...added,
      ...(Object.keys(headers).length > 0 && { headers: mapValues(headers, (each) => this.#header(each)) }),
      ...(Object.keys(content).length > 0 && { content: this.#schemas.convertContent(content) }),
    };
  }

  #content(own: JsonObject, context: ErrorContext): JsonObject {
    const errors = errorsOf(own);
    if (errors.length > 0)
      return { [JSON_TYPE]: { schema: this.#envelope, examples: examples(errors, context) } };
    const isEmpty = own.anyOf === undefined && EMPTY_BODIES.includes(own.type);
    return isEmpty ? {} : { [JSON_TYPE]: { schema: own } };
  }

  #header(schema: unknown): JsonObject {
    const { description, examples: shown, ...typed } = this.#schemas.convert(schema);
    const [example] = Array.isArray(shown) ? shown : [];
    return { description, schema: typed, ...(example !== undefined && { example }) };
  }
}

function examples(errors: readonly DocumentedError[], context: ErrorContext): JsonObject {
  return Object.fromEntries(
    errors.map((error) => [describedError(error).code, { value: errorExample(error, context) }]),
  );
}
