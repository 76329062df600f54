import { isRecord } from "../domain/json/index.ts";

/** A JSON Schema or OpenAPI object whose keywords are read one by one. */
export type JsonObject = Record<string, unknown>;

/** Converts the values of an object. Returns an empty object for any other value. */
export function mapValues(values: unknown, map: (value: unknown, key: string) => unknown): JsonObject {
  if (!isRecord(values)) return {};
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]));
}

/** The project's own schema keywords, for `fieldErrors` and openapi.ts. Descriptions do not show them. */
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
/** Keywords whose values contain no schemas. */
const VALUE_KEYWORDS = ["examples", "default", "const", "enum", "required", "discriminator"];
/** The pattern that TypeBox writes for a record that allows any key. */
const ANY_KEY = "^(.*)$";

/**
 * Converts TypeBox schemas for one OpenAPI 3.1 description. A schema with a `title` is defined once, by
 * default under `components.schemas`, and referenced everywhere else. If JSON Schema has several equivalent
 * forms, the output uses the form that client generators support.
 */
export class OpenApiSchemas {
  readonly components: Record<string, JsonObject> = {};
  readonly #home: string;

  /** @param home the location of schemas with a title in the description */
  constructor(home = "#/components/schemas/") {
    this.#home = home;
  }

  /** Converts `schema`. Returns a reference to the result if the schema has a title. */
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

  /** Converts the schemas in an OpenAPI `content` object, which is keyed by media type. */
  convertContent(content: unknown): JsonObject {
    return mapValues(content, (media) =>
      isRecord(media) && media.schema !== undefined
        ? { ...media, schema: this.convert(media.schema) }
        : media,
    );
  }

  #object(schema: JsonObject): JsonObject {
    const entries = Object.entries(overridden(schema)).filter(
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

/** Applies the `openapi` option, which overrides keywords. With a `type` it replaces all but the texts and examples. */
function overridden(schema: JsonObject): JsonObject {
  const { openapi, title, description, examples } = schema;
  if (!isRecord(openapi)) return schema;
  return { ...(openapi.type === undefined ? schema : { title, description, examples }), ...openapi };
}

/** Converts a title to a component name: `Service account` → `ServiceAccount`. */
function componentName(title: string): string {
  return title.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase());
}

/** Converts TypeBox's record to `additionalProperties` for the values and `propertyNames` for the keys. */
function asMap(schema: JsonObject): JsonObject {
  const { patternProperties, additionalProperties: _, ...rest } = schema;
  if (!isRecord(patternProperties)) return schema;
  const [pattern = ANY_KEY, values] = Object.entries(patternProperties)[0] ?? [];
  const keys = pattern === ANY_KEY ? {} : { propertyNames: { type: "string", pattern } };
  return { ...keys, ...rest, additionalProperties: values };
}

/** Converts a literal, or a union of literals of one type, to `enum`. */
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

/** Converts a union of a type and null to one schema. Leaves a union of a reference and null unchanged. */
function asNullable(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [other, none] = anyOf;
  if (none.type !== "null" || typeof other.type !== "string" || other.enum !== undefined) return schema;
  return { ...other, ...rest, type: [other.type, "null"] };
}

/** Converts a union with a discriminator to `oneOf`. */
function asOneOf(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  return schema.discriminator === undefined ? schema : { ...rest, oneOf: anyOf };
}
