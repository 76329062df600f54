import { Kind, type TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { FIELD_ERRORS_MAX, type FieldError, shownKey } from "../../domain/errors/index.ts";

/**
 * Turns TypeBox's findings into sentences of our own: what is wrong and what would be accepted. A schema may
 * carry its own sentence as `rule` ("must be ..."), which then wins.
 */
export function fieldErrors(errors: Iterable<ValueError>): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const error of errors) {
    if (seen.has(error.path)) continue;
    seen.add(error.path);
    const path = fieldPath(error.path);
    found.push({ path, message: `${path === "" ? "The body" : path} ${sentence(error)}.` });
    if (found.length === FIELD_ERRORS_MAX) break;
  }
  return found;
}

/** `/idp/issuer` → `idp.issuer`, `/routes/3/path` → `routes[3].path`. */
function fieldPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => shownKey(part.replaceAll("~1", "/").replaceAll("~0", "~")))
    .reduce(
      (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`),
      "",
    );
}

function sentence(error: ValueError): string {
  if (error.type === ValueErrorType.ObjectAdditionalProperties || error.type === ValueErrorType.Never) {
    return "is not a known field; remove it";
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty) return `is required and ${rule(error.schema)}`;
  return rule(error.schema);
}

function rule(schema: TSchema): string {
  if (typeof schema.rule === "string") return schema.rule;
  if (schema[Kind] === "Literal") return `must be ${JSON.stringify(schema.const)}`;
  if (schema[Kind] === "Union") return unionRule(schema);
  return kindRules[String(schema.type)]?.(schema) ?? "is not valid";
}

function unionRule(schema: TSchema): string {
  const members: TSchema[] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const parts = members.map((member) => rule(member).replace(/^must be /, ""));
  return `must be ${parts.join(" or ")}`;
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
