import { isRecord } from "../domain/json/index.ts";
import { type JsonObject, pointerOf } from "../openapi/index.ts";
import type { ServiceDescription } from "./service-description.ts";
import { pascalCase, type UniqueNames } from "./unique-names.ts";
import { VALUE_COST, type WorkBudget } from "./work-budget.ts";

/** A longer pattern is left out, because checking a pattern compiles it. */
const PATTERN_LENGTH_MAX = 1024;

/**
 * Copies schemas of a service's description. Leaves out unknown keywords and invalid values, so the result is
 * always valid. Referenced schemas become components with unique names.
 */
export class ServiceSchemas {
  readonly #description: ServiceDescription;
  readonly #service: string;
  readonly #names: UniqueNames;
  readonly #work: WorkBudget;
  readonly #named = new Map<JsonObject, string>();
  /** The schemas that conversions have referenced since the last call of {@link keep} or {@link drop}. */
  #mentioned = new Set<JsonObject>();
  readonly #queue: JsonObject[] = [];
  readonly #kept = new Set<JsonObject>();

  constructor(service: string, description: ServiceDescription, names: UniqueNames, work: WorkBudget) {
    this.#service = service;
    this.#description = description;
    this.#names = names;
    this.#work = work;
  }

  /** Accepts the conversions since the last call: queues the components that they reference. */
  keep(): void {
    for (const schema of this.#mentioned) {
      if (this.#kept.has(schema)) continue;
      this.#kept.add(schema);
      this.#queue.push(schema);
    }
    this.#mentioned.clear();
  }

  /** Discards the conversions since the last call: forgets their references. */
  drop(): void {
    this.#mentioned = new Set();
  }

  /** Returns the name and the original schema of the next queued component, or null if the queue is empty. */
  next(): { name: string; schema: JsonObject } | null {
    const schema = this.#queue.pop();
    return schema === undefined ? null : { name: this.#named.get(schema) ?? "", schema };
  }

  convert(schema: unknown): JsonObject {
    if (schema === false) return { not: {} };
    if (!isRecord(schema)) return {};
    const refers = typeof schema.$ref === "string";
    const converted = refers ? this.#reference(String(schema.$ref)) : {};
    // OpenAPI 3.0 ignores every other keyword next to `$ref`.
    if (refers && this.#description.is30) return converted;
    this.#work.spend(VALUE_COST);
    for (const [keyword, value] of this.#work.entries(schema)) {
      const kind = KEYWORDS.get(keyword);
      const part = kind === undefined ? undefined : this.#part(kind, value);
      if (part !== undefined) converted[keyword] = part;
    }
    return this.#as31(schema, converted);
  }

  #reference(ref: string): JsonObject {
    const target = this.#description.at(ref, this.#work);
    if (!isRecord(target)) return typeof target === "boolean" ? this.convert(target) : {};
    this.#mentioned.add(target);
    return { $ref: `#/components/schemas/${this.#nameOf(target, ref)}` };
  }

  #nameOf(schema: JsonObject, pointer: string): string {
    const known = this.#named.get(schema);
    if (known !== undefined) return known;
    const keys = pointerOf(pointer) ?? [];
    const isComponent = keys.length === 3 && keys[0] === "components";
    const wanted = isComponent ? keys.slice(2) : keys.slice(-3);
    const name = this.#names.take(prefixed(pascalCase(this.#service), pascalCase(wanted.join(" "))));
    this.#named.set(schema, name);
    return name;
  }

  #part(kind: Kind, value: unknown): unknown {
    switch (kind) {
      case "schema":
        // A boolean schema becomes an object here, because many tools accept booleans only as
        // additionalProperties.
        return isRecord(value) || typeof value === "boolean" ? this.convert(value) : undefined;
      case "others":
        return typeof value === "boolean" ? value : this.#part("schema", value);
      case "schemas":
        return Array.isArray(value) && value.length > 0 ? value.map((part) => this.convert(part)) : undefined;
      case "properties":
        return this.#map(value, isAny);
      case "patterns":
        return this.#map(value, isPattern);
      case "discriminator":
        return this.#discriminator(value);
      default:
        return this.#work.isData(value) && kind(value) ? value : undefined;
    }
  }

  #map(value: unknown, isKey: Check): JsonObject | undefined {
    if (!isRecord(value)) return undefined;
    const entries = this.#work.entries(value).filter(([key]) => isKey(key));
    return Object.fromEntries(entries.map(([key, part]) => [key, this.convert(part)]));
  }

  #discriminator(value: unknown): JsonObject | undefined {
    if (!isRecord(value) || typeof value.propertyName !== "string") return undefined;
    const entries = this.#work.entries(value.mapping).flatMap(([key, target]) => {
      if (typeof target !== "string") return [];
      const ref = target.startsWith("#") ? target : `#/components/schemas/${target}`;
      const { $ref } = this.#reference(ref);
      return $ref === undefined ? [] : [[key, $ref]];
    });
    const propertyName = this.#work.text(value.propertyName) ?? "";
    return entries.length === 0 ? { propertyName } : { propertyName, mapping: Object.fromEntries(entries) };
  }

  /** Converts OpenAPI 3.0 keywords (`example`, `nullable` and boolean exclusive limits) to JSON Schema. */
  #as31(schema: JsonObject, converted: JsonObject): JsonObject {
    const { example, nullable } = schema;
    const isShown = example !== undefined && converted.examples === undefined && this.#work.isData(example);
    if (isShown) converted.examples = [example];
    for (const [flag, bound] of BOUNDS) {
      if (schema[flag] !== true || typeof converted[bound] !== "number") continue;
      converted[flag] = converted[bound];
      delete converted[bound];
    }
    if (nullable !== true) return converted;
    if (typeof converted.type === "string") return { ...converted, type: [converted.type, "null"] };
    return converted.type === undefined ? { anyOf: [converted, { type: "null" }] } : converted;
  }
}

/** Adds the service's name as a prefix, unless the name has it: `Identity` and `Member` → `IdentityMember`. */
function prefixed(service: string, name: string): string {
  const rest = name.startsWith(service) ? name.charAt(service.length) : "x";
  return /[a-z]/.test(rest) ? `${service}${name}` : name;
}

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

type Check = (value: unknown) => boolean;
const isAny: Check = () => true;
const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isNumber: Check = (value) => typeof value === "number";
const isPositive: Check = (value) => isNumber(value) && Number(value) > 0;
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isList: Check = (value) => Array.isArray(value) && value.length > 0;
const isSetOf = (value: unknown, isItem: Check): boolean =>
  Array.isArray(value) && value.every(isItem) && new Set(value).size === value.length;
const isNames: Check = (value) => isSetOf(value, isText);
const isType: Check = (value) =>
  TYPES.includes(value) || (isList(value) && isSetOf(value, (type) => TYPES.includes(type)));

function isPattern(value: unknown): boolean {
  if (typeof value !== "string" || value.length > PATTERN_LENGTH_MAX) return false;
  try {
    return new RegExp(value, "u").source !== "";
  } catch {
    return false;
  }
}

/** The way to copy the value of a keyword: as data that passes a check, or as one or more schemas. */
type Kind = Check | "schema" | "others" | "schemas" | "properties" | "patterns" | "discriminator";

const KEYWORDS_OF: readonly (readonly [Kind, readonly string[]])[] = [
  [isText, ["title", "description", "format", "contentEncoding", "contentMediaType"]],
  [isFlag, ["deprecated", "readOnly", "writeOnly", "uniqueItems"]],
  [isAny, ["const", "default"]],
  [isList, ["enum", "examples"]],
  [isNumber, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
  [isPositive, ["multipleOf"]],
  [isCount, ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]],
  [isType, ["type"]],
  [isPattern, ["pattern"]],
  [isNames, ["required"]],
  ["schema", ["items", "contains", "propertyNames", "not", "if", "then", "else"]],
  ["others", ["additionalProperties", "unevaluatedProperties"]],
  ["schemas", ["prefixItems", "allOf", "anyOf", "oneOf"]],
  ["properties", ["properties"]],
  ["patterns", ["patternProperties"]],
  ["discriminator", ["discriminator"]],
];
const KEYWORDS = new Map(
  KEYWORDS_OF.flatMap(([kind, keywords]) => keywords.map((keyword) => [keyword, kind] as const)),
);

const BOUNDS = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;
