import { isRecord } from "../../domain/json/index.ts";
import type { JsonObject } from "./openapi-schemas.ts";

const DEPTH_MAX = 6;
/** Schemas that one sample is made of: a few lines of a document can refer to very many. */
const SCHEMAS_MAX = 200;

/**
 * A value that a schema of an OpenAPI document may accept: its example where it has one, else made of what it
 * requires.
 *
 * @param lookUp the schema that a `$ref` leads to, undefined for none
 */
export function sampleOf(schema: unknown, lookUp: (ref: string) => unknown): unknown {
  return new Sampler(lookUp).sample(schema, 0);
}

class Sampler {
  readonly #lookUp: (ref: string) => unknown;
  #left = SCHEMAS_MAX;

  constructor(lookUp: (ref: string) => unknown) {
    this.#lookUp = lookUp;
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

  /** What is required; all that there is where nothing is. */
  #ofObject({ properties, required }: JsonObject, depth: number): JsonObject {
    if (!isRecord(properties)) return {};
    const needed = new Set(Array.isArray(required) ? required : []);
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => needed.size === 0 || needed.has(name))
        .slice(0, SCHEMAS_MAX)
        .map(([name, part]) => [name, this.sample(part, depth + 1)]),
    );
  }
}

/** The value that a schema itself names. */
function givenSample({
  example,
  examples,
  const: only,
  default: fallback,
  enum: choice,
}: JsonObject): unknown {
  const [first] = Array.isArray(examples) ? examples : [];
  const [chosen] = Array.isArray(choice) ? choice : [];
  return example ?? first ?? only ?? fallback ?? chosen;
}
