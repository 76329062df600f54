import { isRecord, type JsonObject } from "./openapi-types.ts";

/** Keywords of our own, read by field-errors.ts and openapi.ts. */
const OWN_KEYWORDS = ["rule", "response_description", "response_headers"];
/** How TypeBox writes "any key" of a record. */
const ANY_KEY = "^(.*)$";

/**
 * Turns TypeBox schemas into the schemas of one OpenAPI 3.1 document. A schema with a `title` is written once,
 * under `components.schemas`, and referred to from everywhere.
 */
export class OpenApiSchemas {
  readonly components: Record<string, JsonObject> = {};

  /** `schema`, cleaned, or a reference to it. */
  convert(schema: unknown): JsonObject {
    const cleaned = this.#object(isRecord(schema) ? schema : {});
    if (typeof cleaned.title !== "string") return cleaned;
    const name = componentName(cleaned.title);
    const known = this.components[name];
    if (known !== undefined && !Bun.deepEquals(known, cleaned)) {
      throw new Error(`Two different schemas have the title ${cleaned.title}.`);
    }
    this.components[name] = cleaned;
    return { $ref: `#/components/schemas/${name}` };
  }

  #object(schema: JsonObject): JsonObject {
    const entries = Object.entries(schema).filter(
      ([keyword, value]) => value !== undefined && !OWN_KEYWORDS.includes(keyword),
    );
    return asEnum(
      withAnyKey(
        Object.fromEntries(entries.map(([keyword, value]) => [keyword, this.#value(keyword, value)])),
      ),
    );
  }

  #value(keyword: string, value: unknown): unknown {
    if (keyword === "examples" || keyword === "default" || keyword === "const" || keyword === "enum")
      return value;
    if (keyword === "properties" || keyword === "patternProperties") {
      if (!isRecord(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.convert(part)]));
    }
    if (Array.isArray(value)) return value.map((part) => (isRecord(part) ? this.convert(part) : part));
    return isRecord(value) ? this.convert(value) : value;
  }
}

/** `Service account` → `ServiceAccount`: names of components hold no spaces. */
function componentName(title: string): string {
  return title.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase());
}

/** A record of any key: `additionalProperties` says so more plainly than a pattern. */
function withAnyKey(schema: JsonObject): JsonObject {
  const { patternProperties, ...rest } = schema;
  if (!isRecord(patternProperties) || !(ANY_KEY in patternProperties)) return schema;
  return { ...rest, additionalProperties: patternProperties[ANY_KEY] };
}

/** A choice among literals of one type as `enum`. */
function asEnum(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length === 0) return schema;
  const [first] = anyOf;
  if (!anyOf.every((part) => isRecord(part) && "const" in part && part.type === first.type)) return schema;
  return { ...rest, type: first.type, enum: anyOf.map((part) => part.const) };
}
