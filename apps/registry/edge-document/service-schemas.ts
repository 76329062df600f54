import { isRecord } from "@ostiary/lib/domain/json";
import type { JsonObject } from "@ostiary/lib/runtime/http";
import { pointerOf, type ServiceDocument } from "./service-document.ts";

/** Gives each component of the whole document a name of its own. */
export class ComponentNames {
  readonly #taken: Set<string>;

  /** @param taken those of the gateway's own components */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** `IdentityMember` for `Member` of the service `identity`; with a number behind it when that is taken. */
  take(service: string, name: string): string {
    const wanted = pascalCase(`${service} ${name}`) || "Schema";
    let free = wanted;
    for (let count = 2; this.#taken.has(free); count++) free = `${wanted}${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** `service-account list` → `ServiceAccountList`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

const ALIASES_MAX = 16;

/**
 * Takes schemas over from a service's document. What JSON Schema does not know, or what is not what its keyword
 * says, is left out, so that whatever a service writes the result is sound. Schemas that are referred to become
 * components under names of this document.
 */
export class ServiceSchemas {
  readonly #document: ServiceDocument;
  readonly #service: string;
  readonly #names: ComponentNames;
  /** By where they stand in the service's document. */
  readonly #named = new Map<string, string>();
  /** Referred to by what was converted since the last {@link keep}. */
  #mentioned = new Set<string>();
  readonly #queue: string[] = [];
  readonly #kept = new Set<string>();

  constructor(service: string, document: ServiceDocument, names: ComponentNames) {
    this.#service = service;
    this.#document = document;
    this.#names = names;
  }

  /** What was converted is used: so are the components that it refers to. */
  keep(): void {
    for (const pointer of this.#mentioned) {
      if (this.#kept.has(pointer)) continue;
      this.#kept.add(pointer);
      this.#queue.push(pointer);
    }
    this.#mentioned.clear();
  }

  /** What was converted since the last {@link keep} is not used. */
  drop(): void {
    this.#mentioned = new Set();
  }

  /** The components that are used, one at a time, with those that they use in turn. */
  *components(): Generator<[name: string, schema: JsonObject]> {
    for (let pointer = this.#queue.pop(); pointer !== undefined; pointer = this.#queue.pop()) {
      // its name is its title
      const { title: _, ...schema } = this.convert(this.#document.at(pointer));
      this.keep();
      yield [this.#nameOf(pointer), schema];
    }
  }

  convert(schema: unknown): JsonObject {
    if (schema === false) return { not: {} };
    if (!isRecord(schema)) return {};
    const refers = typeof schema.$ref === "string";
    const converted = refers ? this.#reference(String(schema.$ref)) : {};
    // in OpenAPI 3.0 nothing that stands beside a reference counts
    if (refers && this.#document.is30) return converted;
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
      const part = kind === undefined ? undefined : this.#part(kind, value);
      if (part !== undefined) converted[keyword] = part;
    }
    return asOf30(schema, converted);
  }

  #reference(ref: string): JsonObject {
    let pointer = ref;
    for (let followed = 0; followed < ALIASES_MAX; followed++) {
      const target = pointerOf(pointer) === null ? undefined : this.#document.at(pointer);
      if (typeof target !== "boolean" && !isRecord(target)) return {};
      if (!isRecord(target) || typeof target.$ref !== "string" || Object.keys(target).length > 1) {
        this.#mentioned.add(pointer);
        return { $ref: `#/components/schemas/${this.#nameOf(pointer)}` };
      }
      pointer = target.$ref;
    }
    return {};
  }

  #nameOf(pointer: string): string {
    const known = this.#named.get(pointer);
    if (known !== undefined) return known;
    const keys = pointerOf(pointer) ?? [];
    const isComponent = keys.length === 3 && keys[0] === "components";
    const name = this.#names.take(this.#service, isComponent ? String(keys[2]) : keys.slice(-3).join(" "));
    this.#named.set(pointer, name);
    return name;
  }

  #part(kind: Kind, value: unknown): unknown {
    switch (kind) {
      case "schema":
        // readers of documents know true and false as a schema in few places
        return isRecord(value) || typeof value === "boolean" ? this.convert(value) : undefined;
      case "others":
        return typeof value === "boolean" ? value : this.#part("schema", value);
      case "schemas":
        return Array.isArray(value) && value.length > 0 ? value.map((part) => this.convert(part)) : undefined;
      case "properties":
        return this.#map(value, () => true);
      case "patterns":
        return this.#map(value, isPattern);
      case "discriminator":
        return this.#discriminator(value);
      default:
        return CHECKS[kind](value) ? value : undefined;
    }
  }

  #map(value: unknown, isKey: (key: string) => boolean): JsonObject | undefined {
    if (!isRecord(value)) return undefined;
    const entries = Object.entries(value).filter(([key]) => isKey(key));
    return Object.fromEntries(entries.map(([key, part]) => [key, this.convert(part)]));
  }

  #discriminator(value: unknown): JsonObject | undefined {
    if (!isRecord(value) || typeof value.propertyName !== "string") return undefined;
    const mapping = isRecord(value.mapping) ? Object.entries(value.mapping) : [];
    const entries = mapping.flatMap(([key, target]) => {
      if (typeof target !== "string") return [];
      const ref = target.startsWith("#") ? target : `#/components/schemas/${target}`;
      const { $ref } = this.#reference(ref);
      return $ref === undefined ? [] : [[key, $ref]];
    });
    const { propertyName } = value;
    return entries.length === 0 ? { propertyName } : { propertyName, mapping: Object.fromEntries(entries) };
  }
}

const TYPES: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: unknown) => typeof value === "number";
const isText = (value: unknown) => typeof value === "string";
const isFlag = (value: unknown) => typeof value === "boolean";
const isUnique = (value: readonly unknown[]) => new Set(value).size === value.length;

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "u").source !== "";
  } catch {
    return false;
  }
}

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.includes(value);
  return value.length > 0 && value.every((type) => TYPES.includes(type)) && isUnique(value);
}

/** Whether a value may stand under a keyword that holds no schema. */
const CHECKS = {
  any: (value: unknown) => !holdsReference(value),
  text: isText,
  flag: isFlag,
  number: isNumber,
  positive: (value: unknown) => isNumber(value) && Number(value) > 0,
  count: isCount,
  list: (value: unknown) => Array.isArray(value) && value.length > 0 && !holdsReference(value),
  names: (value: unknown) => Array.isArray(value) && value.every(isText) && isUnique(value),
  type: isType,
  pattern: isPattern,
} as const;

type Kind =
  | keyof typeof CHECKS
  | "schema"
  | "others"
  | "schemas"
  | "properties"
  | "patterns"
  | "discriminator";

const KEYWORDS: Readonly<Record<string, Kind>> = {
  title: "text",
  description: "text",
  type: "type",
  format: "text",
  enum: "list",
  const: "any",
  default: "any",
  examples: "list",
  deprecated: "flag",
  readOnly: "flag",
  writeOnly: "flag",
  multipleOf: "positive",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  contentEncoding: "text",
  contentMediaType: "text",
  items: "schema",
  prefixItems: "schemas",
  contains: "schema",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  properties: "properties",
  patternProperties: "patterns",
  additionalProperties: "others",
  propertyNames: "schema",
  unevaluatedProperties: "others",
  minProperties: "count",
  maxProperties: "count",
  required: "names",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: "schema",
  else: "schema",
  discriminator: "discriminator",
};

/** Whether a value that is data has a `$ref` in it, which readers of documents would follow all the same. */
export function holdsReference(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "$ref") || Object.values(value).some(holdsReference);
}

/** What OpenAPI 3.0 says in its own way, as JSON Schema says it. */
function asOf30(schema: JsonObject, converted: JsonObject): JsonObject {
  const { example, nullable } = schema;
  const isShown = example !== undefined && !holdsReference(example);
  if (isShown && converted.examples === undefined) converted.examples = [example];
  for (const [flag, bound] of BOUNDS) {
    if (schema[flag] !== true || typeof converted[bound] !== "number") continue;
    converted[flag] = converted[bound];
    delete converted[bound];
  }
  if (nullable !== true) return converted;
  if (typeof converted.type === "string") return { ...converted, type: [converted.type, "null"] };
  return converted.type === undefined ? { anyOf: [converted, { type: "null" }] } : converted;
}

const BOUNDS = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;
