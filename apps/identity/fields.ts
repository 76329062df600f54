import { idField, nullable, timeField } from "@ostiary/lib/domain/schemas";
import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

/** Building blocks of the shapes of this service's requests and answers. */
export { idField, nullable, timeField };

/** What {@link trimmed} takes away and what no text may hold, as parts of a class of a pattern. */
const SPACES = "\\t-\\r \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f";
const VISIBLE = `[^${CONTROLS}${SPACES}]`;

/**
 * Text with something visible in it and control characters around it at most. Names no surrogates and no classes
 * such as `\s`, and looks nowhere ahead, since dialects differ in these. Takes time that grows with the length.
 */
const TEXT_PATTERN = `^[${SPACES}]*${VISIBLE}(?:[^${CONTROLS}]*${VISIBLE})?[${SPACES}]*$`;
const TEXT = new RegExp(TEXT_PATTERN);
const PERSON_TEXT = "PersonText";

export interface TextOptions {
  description: string;
  examples: string[];
}

interface PersonText extends TSchema {
  maxLength: number;
}

// a kind of its own, since TypeBox counts the units that JavaScript needs for a character
TypeRegistry.Set<PersonText>(PERSON_TEXT, ({ maxLength }, value) => isPersonText(value, maxLength));

/**
 * Text that a person wrote: 1 to `length_max` characters once {@link trimmed}, counted as characters and not
 * as the units that JavaScript or UTF-8 need for them.
 */
export function personText(length_max: number, options: TextOptions) {
  return Type.Unsafe<string>({
    ...options,
    [Kind]: PERSON_TEXT,
    type: "string",
    description: `${options.description} 1 to ${length_max} characters; white space around it is removed.`,
    minLength: 1,
    maxLength: length_max,
    pattern: TEXT_PATTERN,
    rule: `must be text of 1 to ${length_max} characters, without control characters`,
  });
}

/** The cheap questions first: a character has two units at most. */
function isPersonText(value: unknown, length_max: number): boolean {
  if (typeof value !== "string") return false;
  const text = trimmed(value);
  if (text.length > 2 * length_max || !text.isWellFormed() || !TEXT.test(text)) return false;
  return Array.from(text).length <= length_max;
}

/** The text as it is stored, of a value that {@link personText} accepted. */
export function trimmed(text: string): string {
  return text.trim();
}

export const NAME_LENGTH_MAX = 128;

/** `name` of an organization, service account or API key. */
export function nameField(description: string, example: string) {
  return personText(NAME_LENGTH_MAX, { description, examples: [example] });
}

export const createdAt = timeField("When it was created.");
export const updatedAt = timeField("When it was last changed.");

/**
 * Options of a shape in answers: its name in the OpenAPI document, and that it has no other field. An answer
 * with one more, such as a user_id, fails instead of telling it.
 */
export function shapeOf(title: string, description: string) {
  return { title, description, additionalProperties: false } as const;
}

/** A role as answers show it. */
export const shownRole = nullable(
  Type.String({
    description: "A slug of the roles file; null while roles are off.",
    examples: ["admin"],
  }),
);
