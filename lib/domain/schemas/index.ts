/**
 * Building blocks for the schemas of the services' APIs. The option `openapi` adds or replaces keywords in
 * the OpenAPI description. The option describes formats, which TypeBox does not check without registration. The
 * option also describes rules that a handler checks: a malformed id is a 404, like any unknown id.
 */
import { type SchemaOptions, type TSchema, type TString, Type } from "@sinclair/typebox";

export * from "./time.ts";

/** The pattern of a ULID: 26 upper-case characters of Crockford's alphabet, at most 128 bits. */
export const ULID_PATTERN = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
const ULID_LENGTH = 26;
export const ULID_EXAMPLE = "01KA4YB0Q9X3M5N7P8R2S6T1VW";

/** A request id as the gateway generates it: a UUID of version 7. */
export const REQUEST_ID_EXAMPLE = "0199f4c1-7d1e-7c3a-9b1f-2f6a1c0d4e5b";

const ULID = new RegExp(ULID_PATTERN);

export function isUlid(value: string): boolean {
  return ULID.test(value);
}

export function idField(description: string) {
  return Type.String({
    description,
    examples: [ULID_EXAMPLE],
    openapi: { pattern: ULID_PATTERN, minLength: ULID_LENGTH, maxLength: ULID_LENGTH },
  });
}

export const textField = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

export const boundedText = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] });

export function timeField(description: string) {
  return Type.String({
    description: `${description} RFC 3339, UTC, milliseconds.`,
    examples: ["2026-01-31T12:00:00.000Z"],
    openapi: { format: "date-time" },
  });
}

export const wholeField = (minimum: number, description: string, example: number) =>
  Type.Integer({ minimum, description, examples: [example] });

export const countField = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] });

/** Returns the options of an object schema that refuses unknown fields. Messages call the object `noun`. */
export const closedShape = (noun: string) => ({ additionalProperties: false, noun }) as const;

/** Returns the options of an object schema that ignores unknown fields, because a newer gateway can send more. */
export const openShape = (title: string, description: string) => ({
  additionalProperties: true,
  title,
  description,
});

/** Returns the union of `schema` and null, by default with the description and examples of `schema`. */
export function nullable<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  const { description, examples } = schema;
  return Type.Union([schema, Type.Null()], { description, examples, ...options });
}

/** Returns a {@link nullable} schema whose first example is null, for a value that is usually null. */
export function mostlyNull<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return nullable(schema, { ...options, examples: [null, ...(schema.examples ?? [])] });
}

/** Returns the schema of an object whose keys match `key`. */
export function mapOf<Value extends TSchema>(key: TString, value: Value, options: SchemaOptions = {}) {
  return Type.Record(key, value, {
    additionalProperties: false,
    ...options,
    keys: key,
    openapi: { propertyNames: key },
  });
}
