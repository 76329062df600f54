import type { AnySchema } from "ajv";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** JSON Schema of an OpenAPI document, looked at keyword by keyword. */
export type Schema = Record<string, unknown>;

export interface Media {
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keywords whose values are data and hold no schemas. */
const DATA = ["example", "examples", "default", "enum", "value"];

/** Every object of the document that is not data, with its JSON pointer. */
export function objectsIn(value: unknown, pointer = ""): { pointer: string; value: Schema }[] {
  if (Array.isArray(value)) return value.flatMap((part, index) => objectsIn(part, `${pointer}/${index}`));
  if (!isObject(value)) return [];
  const inside = Object.entries(value).filter(
    ([key]) => !DATA.includes(key) || pointer.endsWith("/properties"),
  );
  return [
    { pointer, value },
    ...inside.flatMap(([key, part]) => objectsIn(part, `${pointer}/${key.replaceAll("/", "~1")}`)),
  ];
}

/** `schema`, or what it refers to. */
export function resolved(document: OpenApiDocument, schema: Schema): Schema {
  const name = typeof schema.$ref === "string" ? schema.$ref.split("/").at(-1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** Checks values against schemas of one document, as JSON Schema 2020-12 with its formats. */
export class DocumentValidator {
  readonly #ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    addFormats.default(this.#ajv);
    // keywords of OpenAPI's own dialect
    this.#ajv.addVocabulary(["discriminator", "components"]);
    this.#ajv.addSchema({ $id: "document", components: document.components });
  }

  /** What of `value` breaks `schema`; empty: nothing. */
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

export interface CheckedAnswer {
  status: number;
  headers: Headers;
  /** Parsed where it is JSON, else its text; null where there is none. */
  body: unknown;
}

/** Holds a service's answers against its document, and remembers what was answered. */
export class AnswerCheck {
  /** `getUser 200` of all answers so far. */
  readonly seen = new Set<string>();
  readonly #operations: PlacedOperation[];
  readonly #validator: DocumentValidator;

  constructor(document: OpenApiDocument) {
    this.#operations = operationsIn(document);
    this.#validator = new DocumentValidator(document);
  }

  /** What of an answer the document does not say; empty: nothing. */
  problems(method: string, target: string, { status, headers, body }: CheckedAnswer): string[] {
    const path = target.replace(/\?.*$/s, "");
    const operation = this.#operations.find((each) => each.method === method && isAt(each.path, path));
    if (operation === undefined) return [`${method} ${path} is no operation`];
    const name = `${operation.operationId} ${status}`;
    this.seen.add(name);
    const response = operation.responses[status];
    if (response === undefined) return [`${name} is not documented`];
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const media = response.content?.[type];
    if (response.content === undefined ? body !== null : media === undefined) return [`${name} has ${type}`];
    const wrongHeaders = Object.entries(response.headers ?? {}).flatMap(([header, { schema }]) => {
      const value = headers.get(header);
      if (value === null) return [];
      return this.#validator.problems(schema, schema.type === "integer" ? Number(value) : value);
    });
    const wrong = media === undefined ? [] : this.#validator.problems(media.schema, body);
    return [...wrongHeaders, ...wrong].map((problem) => `${name}: ${problem}`);
  }

  /** Operations that have not succeeded yet. */
  unseen(): string[] {
    return this.#operations.flatMap(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => Number(status) < 300 && !this.seen.has(`${operationId} ${status}`))
        .map((status) => `${operationId} ${status}`),
    );
  }
}

function isAt(template: string, path: string): boolean {
  const [parts, segments] = [template.split("/"), path.split("/")];
  return (
    parts.length === segments.length &&
    parts.every((part, index) => part.startsWith("{") || part === segments[index])
  );
}
