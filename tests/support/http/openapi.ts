import { isRecord } from "@ostiary/lib/domain/json";
import { sampleOf } from "@ostiary/lib/openapi";
import type { AnySchema } from "ajv";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export type Schema = Record<string, unknown>;

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: Schema;
  style?: string;
  example?: unknown;
}
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  /** Replaces the credentials of the whole description; empty if the operation needs no credential. */
  security?: object[];
  responses: Record<
    string,
    {
      description: string;
      headers?: Record<string, { description: string; schema: Schema; example?: unknown }>;
      content?: Record<string, Media>;
    }
  >;
}
export interface OpenApiDocument {
  openapi: string;
  info: { description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface PlacedOperation extends Operation {
  method: string;
  path: string;
}

export function operationsIn({ paths }: OpenApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** Keywords whose values are data, which contain no schemas. */
const DATA = ["example", "examples", "default", "enum", "value"];

/**
 * Returns each object of an OpenAPI description, with its JSON pointer. Objects inside of data are left out.
 */
export function objectsIn(value: unknown, pointer = ""): { pointer: string; value: Schema }[] {
  if (Array.isArray(value)) return value.flatMap((part, index) => objectsIn(part, `${pointer}/${index}`));
  if (!isRecord(value)) return [];
  const inside = Object.entries(value).filter(
    ([key]) => !DATA.includes(key) || pointer.endsWith("/properties"),
  );
  return [
    { pointer, value },
    ...inside.flatMap(([key, part]) => objectsIn(part, `${pointer}/${key.replaceAll("/", "~1")}`)),
  ];
}

/** Returns the schema that `schema` references, or `schema` itself when it is not a reference. */
export function resolved(document: OpenApiDocument, schema: Schema): Schema {
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").at(-1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/**
 * Returns the fields of an operation's JSON request body, each with a sample. Null if the operation has no
 * JSON body.
 */
export function bodyFields(document: OpenApiDocument, { requestBody }: Operation): BodyField[] | null {
  const media = requestBody?.content["application/json"];
  if (media === undefined) return null;
  const { properties, required } = resolved(document, media.schema);
  const lookUp = (ref: string) => resolved(document, { $ref: ref });
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema: resolved(document, isRecord(schema) ? schema : {}),
    isRequired: Array.isArray(required) && required.includes(name),
    sample: sampleOf(schema, lookUp),
  }));
}

export interface BodyField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly sample: unknown;
}

/** A validator for values against schemas of one OpenAPI description, in JSON Schema 2020-12 with formats. */
export class DocumentValidator {
  readonly #ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    addFormats.default(this.#ajv);
    // OpenAPI adds these keywords to JSON Schema.
    this.#ajv.addVocabulary(["discriminator", "components"]);
    this.#ajv.addSchema({ $id: "document", components: document.components });
  }

  /** Returns each problem of `value` with the path in the value. The list is empty for a valid value. */
  problems(schema: Schema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    let validate = this.#validators.get(key);
    if (validate === undefined) {
      const located: AnySchema = JSON.parse(key.replaceAll('"$ref":"#/', '"$ref":"document#/'));
      validate = this.#ajv.compile(located);
      this.#validators.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}
