/**
 * Building blocks of the shapes that the services' APIs share. A schema may say by `openapi` what the OpenAPI
 * document has in place of its own keywords, or beside them: for what the handler checks in words of its own
 * (an id that names nothing is 404, whatever it is made of), and for formats, which TypeBox knows by name only.
 */
import { type SchemaOptions, type TSchema, type TString, Type } from "@sinclair/typebox";

/** A ULID: 26 characters of Crockford's alphabet, upper case, of at most 128 bits. */
export const ULID_PATTERN = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";
const ULID_LENGTH = 26;
export const ULID_EXAMPLE = "01KA4YB0Q9X3M5N7P8R2S6T1VW";

/** As the gateway makes them: a UUID of version 7. */
export const REQUEST_ID_EXAMPLE = "0199f4c1-7d1e-7c3a-9b1f-2f6a1c0d4e5b";

const ULID = new RegExp(ULID_PATTERN);

/** Whether `value` is spelled like a ULID. */
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

/** A time in an answer. */
export function timeField(description: string) {
  return Type.String({
    description: `${description} RFC 3339, UTC, milliseconds.`,
    examples: ["2026-01-31T12:00:00.000Z"],
    openapi: { format: "date-time" },
  });
}

/** `schema` or null, with its description and examples unless `options` has others. */
export function nullable<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  const { description, examples } = schema;
  return Type.Union([schema, Type.Null()], { description, examples, ...options });
}

/** An object of any keys that `key` accepts. */
export function mapOf<Value extends TSchema>(key: TString, value: Value, options: SchemaOptions = {}) {
  return Type.Record(key, value, {
    additionalProperties: false,
    ...options,
    keys: key,
    openapi: { propertyNames: key },
  });
}
