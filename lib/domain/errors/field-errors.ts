/**
 * What is wrong with a value that came from outside, in sentences: where it does not fit its schema, and what
 * would be accepted.
 */
import { Kind, type Static, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { isRecord } from "../json/index.ts";
import { FIELD_ERRORS_MAX, shownKey } from "./api-error.ts";
import type { FieldError } from "./details.ts";

/** What a schema may say of values that do not fit it; without that they are told of in general words. */
export interface Wording {
  /** What follows the field's name: "must be ...". */
  rule?: string;
  /** A whole sentence instead. The value is undefined where the field is missing. */
  message?: string | ((value: unknown) => string);
  /** What an object without further fields is called: "A route". */
  noun?: string;
  /** The schema of an object's keys. */
  keys?: TSchema;
}

/** From the top of the input: the names of fields, and places in lists. */
export type FieldPath = readonly (string | number)[];

export interface Fault {
  readonly path: FieldPath;
  readonly message: string;
}

/** Collects what is wrong with an input, up to the number of errors that an answer lists. */
export class Faults {
  readonly all: Fault[] = [];

  /** Nothing more is kept, so there is no use in reading on. */
  get isFull(): boolean {
    return this.all.length === FIELD_ERRORS_MAX;
  }

  add(path: FieldPath, message: string): void {
    if (!this.isFull) this.all.push({ path, message });
  }

  get fields(): FieldError[] {
    return this.all.map(({ path, message }) => ({ path: shownPath(path), message }));
  }
}

/** `T`, of which any part may be missing. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? (Partly<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Partly<T[Key]> }
    : T;

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();

/** Whether `value` fits `schema`, which is compiled when it is first asked for. */
export function fits<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = TypeCompiler.Compile<TSchema>(schema);
    checks.set(schema, check);
  }
  return check.Check(value);
}

/** All that is wrong with `value` by its schema. */
export function faultsOf(schema: TSchema, value: unknown): Faults {
  const faults = new Faults();
  if (!fits(schema, value)) explain(schema, value, [], faults);
  return faults;
}

export function fieldErrors(schema: TSchema, value: unknown): FieldError[] {
  return faultsOf(schema, value).fields;
}

/** What is left of `value` without its `faults`, which are undefined there; nothing where they are too many to list. */
export function partsThatFit<Schema extends TSchema>(
  _schema: Schema,
  value: unknown,
  faults: Faults,
): Partly<Static<Schema>> | undefined {
  if (faults.isFull) return undefined;
  const paths = faults.all.map(({ path }) => path);
  // biome-ignore lint/plugin: what has another type than the schema says was a fault, and is gone
  return without(value, paths) as Partly<Static<Schema>> | undefined;
}

/** `services.widgets.routes[3].path`. */
export function shownPath(path: FieldPath): string {
  return path.reduce<string>((shown, part) => {
    if (typeof part === "number") return `${shown}[${part}]`;
    return shown === "" ? shownKey(part) : `${shown}.${shownKey(part)}`;
  }, "");
}

/** A word of the input inside a message. */
export function quoted(text: string): string {
  return `\`${shownKey(text)}\``;
}

/** `a, b and c`. */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function explain(schema: TSchema, value: unknown, path: FieldPath, faults: Faults): void {
  const meant = schema[Kind] === "Union" ? memberMeant(schema, value) : undefined;
  if (meant !== undefined) {
    explain(meant, value, path, faults);
    return;
  }
  const before = faults.all.length;
  if (!hasSize(schema, value)) faults.add(path, sentence(schema, value, path));
  if (Array.isArray(value) && schema.type === "array") explainItems(schema.items, value, path, faults);
  if (isRecord(value) && schema.type === "object") explainMembers(schema, value, path, faults);
  if (faults.all.length === before) faults.add(path, sentence(schema, value, path));
}

/** The member of a union that an object or a list was meant to be: the only one that is an object, or a list. */
function memberMeant({ anyOf }: TSchema, value: unknown): TSchema | undefined {
  const type = Array.isArray(value) ? "array" : isRecord(value) ? "object" : null;
  const members: TSchema[] = anyOf;
  const fitting = members.filter((member) => member.type === type);
  return fitting.length === 1 ? fitting[0] : undefined;
}

function hasSize({ minItems, maxItems, minProperties, maxProperties }: TSchema, value: unknown): boolean {
  const within = (size: number, least = 0, most = size) => least <= size && size <= most;
  if (Array.isArray(value)) return within(value.length, minItems, maxItems);
  // the keys of a large object are not counted for nothing
  if (!isRecord(value) || (minProperties === undefined && maxProperties === undefined)) return true;
  return within(Object.keys(value).length, minProperties, maxProperties);
}

function explainItems(schema: TSchema, items: readonly unknown[], path: FieldPath, faults: Faults): void {
  for (const [index, item] of items.entries()) {
    if (faults.isFull) return;
    if (!fits(schema, item)) explain(schema, item, [...path, index], faults);
  }
}

/** First what is missing, then what is not known, then what is wrong. */
function explainMembers(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  path: FieldPath,
  faults: Faults,
): void {
  const properties: Record<string, TSchema> = schema.properties ?? {};
  const required: string[] = schema.required ?? [];
  for (const name of required) {
    const [member, at] = [properties[name], [...path, name]];
    if (member !== undefined && value[name] === undefined) faults.add(at, sentence(member, undefined, at));
  }
  const names = Object.keys(value);
  for (const name of names) {
    if (faults.isFull) return;
    if (!isKnownName(schema, name)) faults.add([...path, name], unknownField(schema, name, [...path, name]));
  }
  if (faults.isFull) return;
  const others = names.filter((name) => !Object.hasOwn(properties, name));
  for (const name of [...others, ...Object.keys(properties)]) {
    if (faults.isFull) return;
    const member = Object.hasOwn(properties, name) ? properties[name] : othersOf(schema);
    if (member === undefined || value[name] === undefined || fits(member, value[name])) continue;
    explain(member, value[name], [...path, name], faults);
  }
}

function isKnownName(
  { properties, patternProperties, additionalProperties }: TSchema,
  name: string,
): boolean {
  if (additionalProperties !== false || Object.hasOwn(properties ?? {}, name)) return true;
  return Object.keys(patternProperties ?? {}).some((pattern) => new RegExp(pattern).test(name));
}

/** The schema of the members of an object that are no properties. */
function othersOf({ patternProperties, additionalProperties }: TSchema): TSchema | undefined {
  const [values]: TSchema[] = Object.values(patternProperties ?? {});
  return values ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
}

function wordingOf({ rule, message, noun, keys }: TSchema): Wording {
  return { rule, message, noun, keys };
}

function unknownField(schema: TSchema, name: string, path: FieldPath): string {
  const { keys, noun } = wordingOf(schema);
  if (keys !== undefined) return sentence(keys, name, path);
  if (noun === undefined) return `${shownPath(path)} is not a known field; remove it.`;
  return `Unknown field. ${noun} takes ${joinWords(Object.keys(schema.properties))}.`;
}

function sentence(schema: TSchema, value: unknown, path: FieldPath): string {
  const { message, noun } = wordingOf(schema);
  if (typeof message === "function") return message(value);
  if (message !== undefined) return message;
  if (noun !== undefined) return `${noun} is an object with ${joinWords(schema.required)}.`;
  if (path.length === 0) return `The body ${ruleOf(schema)}.`;
  return `${shownPath(path)} ${value === undefined ? "is required and " : ""}${ruleOf(schema)}.`;
}

/** `value` without what stands at `paths`. What they do not touch is shared, since it may be large. */
function without(value: unknown, paths: readonly FieldPath[]): unknown {
  if (paths.some((path) => path.length === 0)) return undefined;
  const touched = Map.groupBy(paths, ([first]) => first);
  const part = (member: unknown, name: string | number): unknown => {
    const below = touched.get(name)?.map((path) => path.slice(1));
    return below === undefined ? member : without(member, below);
  };
  if (Array.isArray(value)) return value.map(part);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, part(member, name)]));
}

function ruleOf(schema: TSchema): string {
  const { rule } = wordingOf(schema);
  if (rule !== undefined) return rule;
  if (schema[Kind] === "Literal") return `must be ${JSON.stringify(schema.const)}`;
  if (schema[Kind] === "Union") return unionRule(schema);
  return kindRules[String(schema.type)]?.(schema) ?? "is not valid";
}

function unionRule({ anyOf }: TSchema): string {
  const members: TSchema[] = anyOf;
  return `must be ${members.map((member) => ruleOf(member).replace(/^must be /, "")).join(" or ")}`;
}

const kindRules: Record<string, (schema: TSchema) => string> = {
  null: () => "must be null",
  boolean: () => "must be true or false",
  string: ({ minLength, maxLength }) => `must be a string${lengthRule(minLength, maxLength, "characters")}`,
  integer: (schema) => `must be a whole number${rangeRule(schema)}`,
  number: (schema) => `must be a number${rangeRule(schema)}`,
  array: ({ minItems, maxItems }) => `must be a list${lengthRule(minItems, maxItems, "items")}`,
  object: (schema) =>
    typeof schema.minProperties === "number"
      ? `must be an object with at least ${schema.minProperties} ${schema.minProperties === 1 ? "field" : "fields"}`
      : "must be an object",
};

function lengthRule(least: unknown, most: unknown, unit: string): string {
  if (typeof least === "number" && typeof most === "number") return ` of ${least} to ${most} ${unit}`;
  if (typeof most === "number") return ` of at most ${most} ${unit}`;
  if (typeof least === "number") return ` of at least ${least} ${unit}`;
  return "";
}

function rangeRule(schema: TSchema): string {
  const { minimum, maximum } = schema;
  if (typeof minimum === "number" && typeof maximum === "number") return ` from ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return ` of at least ${minimum}`;
  if (typeof maximum === "number") return ` of at most ${maximum}`;
  return "";
}
