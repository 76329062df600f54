import { isRecord } from "../domain/json/index.ts";
import type { JsonObject } from "./schemas.ts";

const DEPTH_MAX = 16;
/** The maximum number of schemas that are read for one sample: a short description can refer to very many. */
const SCHEMAS_MAX = 200;

/**
 * Returns a sample value for a schema of an OpenAPI description: its example, or a value built from its
 * required properties.
 *
 * @param lookUp returns the schema to which a `$ref` refers, or undefined if the reference is broken
 * @param entriesOf returns the properties of a schema as entries
 */
export function sampleOf(
  schema: unknown,
  lookUp: (ref: string) => unknown,
  entriesOf: (properties: JsonObject) => [string, unknown][] = Object.entries,
): unknown {
  return new Sampler(lookUp, entriesOf).sample(schema, 0);
}

class Sampler {
  readonly #lookUp: (ref: string) => unknown;
  readonly #entriesOf: (properties: JsonObject) => [string, unknown][];
  #left = SCHEMAS_MAX;

  constructor(lookUp: (ref: string) => unknown, entriesOf: (properties: JsonObject) => [string, unknown][]) {
    this.#lookUp = lookUp;
    this.#entriesOf = entriesOf;
  }

  sample(schema: unknown, depth: number): unknown {
    this.#left--;
    if (!isRecord(schema) || depth > DEPTH_MAX || this.#left < 0) return {};
    if (typeof schema.$ref === "string") return this.sample(this.#lookUp(schema.$ref), depth + 1);
    const given = givenSample(schema);
    if (given !== undefined) return given;
    const choice = [schema.oneOf, schema.anyOf].find(Array.isArray);
    if (Array.isArray(choice)) return this.sample(choice[0], depth + 1);
    if (!Array.isArray(schema.allOf)) return this.#ofType(schema, depth);
    const parts = schema.allOf.slice(0, SCHEMAS_MAX).map((part) => this.sample(part, depth + 1));
    return Object.assign({}, ...parts.filter(isRecord), this.#ofObject(schema, depth));
  }

  #ofType(schema: JsonObject, depth: number): unknown {
    const { type, minimum, items, properties } = schema;
    const [first] = Array.isArray(type) ? type : [type];
    switch (first ?? (properties === undefined ? undefined : "object")) {
      case "object":
        return this.#ofObject(schema, depth);
      case "array":
        return items === undefined ? [] : [this.sample(items, depth + 1)];
      case "integer":
      case "number":
        return typeof minimum === "number" ? minimum : 1;
      case "boolean":
        return true;
      case "null":
        return null;
      case "string":
        return "string";
      default:
        return {};
    }
  }

  /** Returns an object with the required properties, or with all properties if the schema requires none. */
  #ofObject({ properties, required, ...map }: JsonObject, depth: number): JsonObject {
    if (!isRecord(properties)) return this.#ofMap(map, depth);
    const needed = new Set(Array.isArray(required) ? required.slice(0, SCHEMAS_MAX) : []);
    return Object.fromEntries(
      this.#entriesOf(properties)
        .filter(([name]) => needed.size === 0 || needed.has(name))
        .slice(0, SCHEMAS_MAX)
        .map(([name, part]) => [name, this.sample(part, depth + 1)]),
    );
  }

  /** Returns a sample of a map with one entry. The map is empty if the schema does not describe its keys. */
  #ofMap({ propertyNames, additionalProperties }: JsonObject, depth: number): JsonObject {
    if (propertyNames === undefined || !isRecord(additionalProperties)) return {};
    const name = this.sample(propertyNames, depth + 1);
    return typeof name === "string" ? { [name]: this.sample(additionalProperties, depth + 1) } : {};
  }
}

function givenSample({
  example,
  examples,
  const: only,
  default: fallback,
  enum: choice,
}: JsonObject): unknown {
  const [first] = Array.isArray(examples) ? examples : [];
  const [chosen] = Array.isArray(choice) ? choice : [];
  return [example, first, only, fallback, chosen].find((value) => value !== undefined);
}
