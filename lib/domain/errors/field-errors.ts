/** Explains where an untrusted value does not match its schema, and which values would be accepted. */
import { Kind, type Static, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { isRecord } from "../json/index.ts";
import { FIELD_ERRORS_MAX, shownKey } from "./api-error.ts";
import { meantWord } from "./close-words.ts";
import type { FieldError } from "./details.ts";

/** The optional keywords of a schema that replace parts of the generic messages about wrong values. */
interface Wording {
  /** The part of the sentence after the field's name: "must be ...". */
  rule?: string;
  /**
   * A whole sentence in place of `rule`. A function gets the wrong value, or undefined for a missing field.
   */
  message?: string | ((value: unknown) => string);
  /** The name of an object in messages, such as "A route". */
  noun?: string;
  keys?: TSchema;
}

/** The field names and list indexes that lead to a value, from the top of the input. */
export type FieldPath = readonly (string | number)[];

/** Collects the problems of an input, up to {@link FIELD_ERRORS_MAX}. */
export class Violations {
  readonly all: { readonly path: FieldPath; readonly message: string }[] = [];

  /** True when the list has reached its maximum length. Further problems are ignored. */
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

/** The type `T` in which every property and list item, at any depth, can be undefined. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? (Partly<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Partly<T[Key]> }
    : T;

const checks = new WeakMap<TSchema, Pick<TypeCheck<TSchema>, "Check">>();

/** Returns whether `value` matches `schema`. Compiles the schema on first use. */
export function fits<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compiled(schema);
    checks.set(schema, check);
  }
  return check.Check(value);
}

/** Compiles a schema. If a page's Content Security Policy forbids `eval`, returns an interpreter instead. */
function compiled(schema: TSchema): Pick<TypeCheck<TSchema>, "Check"> {
  try {
    return TypeCompiler.Compile(schema);
  } catch (error) {
    if (error instanceof EvalError) return { Check: (value): value is unknown => Value.Check(schema, value) };
    throw error;
  }
}

/** Returns the parts of `value` that do not match `schema`, each with a message. */
export function violationsOf(schema: TSchema, value: unknown): Violations {
  const violations = new Violations();
  if (!fits(schema, value)) explain(schema, value, [], violations);
  return violations;
}

export function fieldErrors(schema: TSchema, value: unknown): FieldError[] {
  return violationsOf(schema, value).fields;
}

/**
 * Returns `value` with undefined in place of each part that has a problem. Returns undefined if `violations`
 * is full, because further parts may have problems.
 */
export function partsThatFit<Schema extends TSchema>(
  _schema: Schema,
  value: unknown,
  violations: Violations,
): Partly<Static<Schema>> | undefined {
  if (violations.isFull) return undefined;
  const paths = violations.all.map(({ path }) => path);
  // biome-ignore lint/plugin: every part that does not have the schema's type is a problem, and was removed
  return without(value, paths) as Partly<Static<Schema>> | undefined;
}

/** Returns a path as text, such as `services.widgets.routes[3].path`. */
export function shownPath(path: FieldPath): string {
  return path.reduce<string>((shown, part) => {
    if (typeof part === "number") return `${shown}[${part}]`;
    return shown === "" ? shownKey(part) : `${shown}.${shownKey(part)}`;
  }, "");
}

export function quoted(text: string): string {
  return `\`${shownKey(text)}\``;
}

/** Joins words for a sentence: `a, b and c`. */
export function joinWords(words: readonly string[], last: "and" | "or" = "and"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

function explain(schema: TSchema, value: unknown, path: FieldPath, violations: Violations): void {
  const meant = schema[Kind] === "Union" ? memberMeant(schema, value) : undefined;
  if (meant !== undefined) {
    explain(meant, value, path, violations);
    return;
  }
  const before = violations.all.length;
  if (!hasSize(schema, value)) violations.add(path, sentence(schema, value, path));
  if (Array.isArray(value) && schema.type === "array") explainItems(schema.items, value, path, violations);
  if (isRecord(value) && schema.type === "object") explainMembers(schema, value, path, violations);
  if (violations.all.length === before) violations.add(path, sentence(schema, value, path));
}

/**
 * Returns the union member that an object or list was meant to match: the only member of its JSON type.
 * Returns undefined if no member, or several members, have that type.
 */
function memberMeant({ anyOf }: TSchema, value: unknown): TSchema | undefined {
  const type = Array.isArray(value) ? "array" : isRecord(value) ? "object" : null;
  const members: TSchema[] = anyOf;
  const fitting = members.filter((member) => member.type === type);
  return fitting.length === 1 ? fitting[0] : undefined;
}

function hasSize({ minItems, maxItems, minProperties, maxProperties }: TSchema, value: unknown): boolean {
  const within = (size: number, least = 0, most = size) => least <= size && size <= most;
  if (Array.isArray(value)) return within(value.length, minItems, maxItems);
  // Skip counting the keys of a large object when no bound applies.
  if (!isRecord(value) || (minProperties === undefined && maxProperties === undefined)) return true;
  return within(Object.keys(value).length, minProperties, maxProperties);
}

function explainItems(
  schema: TSchema,
  items: readonly unknown[],
  path: FieldPath,
  violations: Violations,
): void {
  for (const [index, item] of items.entries()) {
    if (violations.isFull) return;
    if (!fits(schema, item)) explain(schema, item, [...path, index], violations);
  }
}

/** Reports missing fields first, then unknown fields, then wrong values. */
function explainMembers(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  path: FieldPath,
  violations: Violations,
): void {
  const properties: Record<string, TSchema> = schema.properties ?? {};
  const required: string[] = schema.required ?? [];
  for (const name of required) {
    const [member, at] = [properties[name], [...path, name]];
    if (member !== undefined && value[name] === undefined)
      violations.add(at, sentence(member, undefined, at));
  }
  // Unlike Object.keys, for...in does not first list all fields of a large object.
  for (const name in value) {
    if (violations.isFull) return;
    if (!isKnownName(schema, name))
      violations.add([...path, name], unknownField(schema, name, [...path, name]));
  }
  if (violations.isFull) return;
  const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  for (const name of [...others, ...Object.keys(properties)]) {
    if (violations.isFull) return;
    const member = Object.hasOwn(properties, name) ? properties[name] : othersOf(schema);
    if (member === undefined || value[name] === undefined || fits(member, value[name])) continue;
    explain(member, value[name], [...path, name], violations);
  }
}

function isKnownName(
  { properties, patternProperties, additionalProperties }: TSchema,
  name: string,
): boolean {
  if (additionalProperties !== false || Object.hasOwn(properties ?? {}, name)) return true;
  return Object.keys(patternProperties ?? {}).some((pattern) => new RegExp(pattern).test(name));
}

/** Returns the schema for all properties that an object schema does not list, or undefined if it has none. */
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
  const known = Object.keys(schema.properties ?? {});
  const meant = meantWord(name, known);
  const hint = meant === undefined ? "" : ` Did you mean ${quoted(meant)}?`;
  if (noun === undefined) return `${shownPath(path)} is not a known field: remove the field.${hint}`;
  return `Unknown field ${quoted(name)}. ${noun} can have ${joinWords(known)}.${hint}`;
}

function sentence(schema: TSchema, value: unknown, path: FieldPath): string {
  const { message, noun } = wordingOf(schema);
  if (typeof message === "function") return message(value);
  if (message !== undefined) return message;
  if (noun !== undefined) return `${noun} must be an object with ${joinWords(schema.required)}.`;
  if (path.length === 0) return `The body ${ruleOf(schema)}.`;
  return `${shownPath(path)} ${value === undefined ? "is required and " : ""}${ruleOf(schema)}.`;
}

/**
 * Returns `value` with undefined at each of `paths`. Shares all other parts with `value`, because a copy
 * could be large.
 */
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
  string: ({ minLength, maxLength }) => `must be a string${boundsRule(minLength, maxLength, "characters")}`,
  integer: ({ minimum, maximum }) => `must be a whole number${boundsRule(minimum, maximum)}`,
  number: ({ minimum, maximum }) => `must be a number${boundsRule(minimum, maximum)}`,
  array: ({ minItems, maxItems }) => `must be a list${boundsRule(minItems, maxItems, "items")}`,
  object: (schema) =>
    typeof schema.minProperties === "number"
      ? `must be an object with at least ${schema.minProperties} ${schema.minProperties === 1 ? "field" : "fields"}`
      : "must be an object",
};

/** Returns the bounds of a number, or of a size in units. */
function boundsRule(least: unknown, most: unknown, unit?: string): string {
  const [before, after] = unit === undefined ? ["from", ""] : ["of", ` ${unit}`];
  if (typeof least === "number" && typeof most === "number") return ` ${before} ${least} to ${most}${after}`;
  if (typeof most === "number") return ` of at most ${most}${after}`;
  return typeof least === "number" ? ` of at least ${least}${after}` : "";
}
