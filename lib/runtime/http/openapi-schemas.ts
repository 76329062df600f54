import { isRecord } from "../../domain/json/index.ts";

/** JSON Schema or OpenAPI text whose keywords are looked at one by one. */
export type JsonObject = Record<string, unknown>;

/** The same keys with other values; none where there is no object. */
export function mapValues(values: unknown, map: (value: unknown, key: string) => unknown): JsonObject {
  if (!isRecord(values)) return {};
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}

/** Keywords of our own, read by `fieldErrors` and openapi.ts. */
const OWN_KEYWORDS = [
  "rule",
  "message",
  "noun",
  "keys",
  "openapi",
  "response_description",
  "response_headers",
  "response_errors",
];
/** Keywords whose values hold no schemas. */
const VALUE_KEYWORDS = ["examples", "default", "const", "enum", "required", "discriminator"];
/** How TypeBox writes "any key" of a record. */
const ANY_KEY = "^(.*)$";

/**
 * Turns TypeBox schemas into the schemas of one OpenAPI 3.1 document. A schema with a `title` is written once,
 * under `components.schemas` unless told, and referred to from everywhere. What JSON Schema can say in several ways is said
 * in the one that generators of clients understand.
 */
export class OpenApiSchemas {
  readonly components: Record<string, JsonObject> = {};
  readonly #home: string;

  /** @param home where the schemas that are written once stand in the document */
  constructor(home = "#/components/schemas/") {
    this.#home = home;
  }

  /** `schema`, converted, or a reference to it. */
  convert(schema: unknown): JsonObject {
    const converted = this.#object(isRecord(schema) ? schema : {});
    if (typeof converted.title !== "string") return converted;
    const name = componentName(converted.title);
    const known = this.components[name];
    if (known !== undefined && !Bun.deepEquals(known, converted)) {
      throw new Error(`Two different schemas have the title ${converted.title}.`);
    }
    this.components[name] = converted;
    return { $ref: `${this.#home}${name}` };
  }

  /** Content by media type, with its schemas converted. */
  convertContent(content: unknown): JsonObject {
    return mapValues(content, (media) =>
      isRecord(media) && media.schema !== undefined
        ? { ...media, schema: this.convert(media.schema) }
        : media,
    );
  }

  #object(schema: JsonObject): JsonObject {
    const entries = Object.entries(said(schema)).filter(
      ([keyword, value]) => value !== undefined && !OWN_KEYWORDS.includes(keyword),
    );
    const converted = Object.fromEntries(
      entries.map(([keyword, value]) => [keyword, this.#value(keyword, value)]),
    );
    return [asMap, asEnum, asNullable, asOneOf].reduce((made, step) => step(made), converted);
  }

  #value(keyword: string, value: unknown): unknown {
    if (VALUE_KEYWORDS.includes(keyword)) return value;
    if (keyword === "properties" || keyword === "patternProperties") {
      if (!isRecord(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.convert(part)]));
    }
    if (Array.isArray(value)) return value.map((part) => (isRecord(part) ? this.convert(part) : part));
    return isRecord(value) ? this.convert(value) : value;
  }
}

/** What the document has of a schema: `openapi` with a type stands in place of how the schema is checked. */
function said(schema: JsonObject): JsonObject {
  const { openapi, title, description, examples } = schema;
  if (!isRecord(openapi)) return schema;
  return { ...(openapi.type === undefined ? schema : { title, description, examples }), ...openapi };
}

/** `Service account` → `ServiceAccount`: names of components hold no spaces. */
function componentName(title: string): string {
  return title.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase());
}

/** A record: `additionalProperties` for its values, `propertyNames` for its keys. */
function asMap(schema: JsonObject): JsonObject {
  const { patternProperties, additionalProperties: _, ...rest } = schema;
  if (!isRecord(patternProperties)) return schema;
  const [pattern = ANY_KEY, values] = Object.entries(patternProperties)[0] ?? [];
  const keys = pattern === ANY_KEY ? {} : { propertyNames: { type: "string", pattern } };
  return { ...keys, ...rest, additionalProperties: values };
}

/** A literal, or a choice among literals of one type, as `enum`. */
function asEnum(schema: JsonObject): JsonObject {
  const { anyOf, const: only, ...rest } = schema;
  if (only !== undefined) return { ...rest, enum: [only] };
  if (!Array.isArray(anyOf) || anyOf.length === 0) return schema;
  const [first] = anyOf;
  if (!anyOf.every((part) => isRecord(part) && Array.isArray(part.enum) && part.type === first.type)) {
    return schema;
  }
  return { ...rest, type: first.type, enum: anyOf.flatMap((part) => part.enum) };
}

/** A type or null: both in `type`. A reference or null stays a choice between the two. */
function asNullable(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [other, none] = anyOf;
  if (none.type !== "null" || typeof other.type !== "string" || other.enum !== undefined) return schema;
  return { ...other, ...rest, type: [other.type, "null"] };
}

/** A choice that a property decides. */
function asOneOf(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  return schema.discriminator === undefined ? schema : { ...rest, oneOf: anyOf };
}
