import { createdAt, shapeOf, shownRole, updatedAt } from "@ostiary/lib/contracts/identity-api";
import { idField, mostlyNull, nullable, timeField } from "@ostiary/lib/domain/schemas";
import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

export { createdAt, idField, mostlyNull, nullable, shapeOf, shownRole, timeField, updatedAt };

/** Character classes for patterns: the whitespace that {@link trimmed} removes, and control characters. */
const SPACES = "\\t-\\r \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f";
const VISIBLE = `[^${CONTROLS}${SPACES}]`;

/**
 * The pattern for text with a visible character, and with control characters only around the text. Avoids
 * surrogates, classes such as `\s` and lookahead, in which dialects differ. Matches in linear time.
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

// A custom TypeBox kind, because TypeBox counts UTF-16 units instead of characters.
TypeRegistry.Set<PersonText>(PERSON_TEXT, ({ maxLength }, value) => isPersonText(value, maxLength));

/**
 * Describes text that a person wrote: 1 to `length_max` characters once {@link trimmed}, counted as code
 * points and not as UTF-16 units or bytes.
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

/** Checks text, cheap checks first. A character has at most two UTF-16 units. */
function isPersonText(value: unknown, length_max: number): boolean {
  if (typeof value !== "string") return false;
  const text = trimmed(value);
  if (text.length > 2 * length_max || !text.isWellFormed() || !TEXT.test(text)) return false;
  return Array.from(text).length <= length_max;
}

/** Returns the stored form of a text that {@link personText} accepts. */
export function trimmed(text: string): string {
  return text.trim();
}

export const NAME_LENGTH_MAX = 128;

/** Describes the `name` of an organization, service account or API key. */
export function nameField(description: string, example: string) {
  return personText(NAME_LENGTH_MAX, { description, examples: [example] });
}
