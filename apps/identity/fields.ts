import {
  NAME_LENGTH_MAX,
  problemOfText,
  shapeOf,
  shownRole,
  TEXT_PATTERN,
} from "@ostiary/lib/contracts/identity-api";
import { idField, mostlyNull, nullable, timeField } from "@ostiary/lib/domain/schemas";
import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

export { idField, mostlyNull, NAME_LENGTH_MAX, nullable, shapeOf, shownRole, timeField };

const PERSON_TEXT = "PersonText";

interface TextOptions {
  description: string;
  examples: string[];
}

interface PersonText extends TSchema {
  maxLength: number;
}

// A custom TypeBox kind, because TypeBox counts UTF-16 units instead of characters.
TypeRegistry.Set<PersonText>(
  PERSON_TEXT,
  ({ maxLength }, value) => typeof value === "string" && problemOfText(value, maxLength) === null,
);

/**
 * Describes text that a person enters: 1 to `lengthMax` characters once it is {@link trimmed}. Each code point counts
 * as one character.
 */
export function personText(lengthMax: number, options: TextOptions) {
  return Type.Unsafe<string>({
    ...options,
    [Kind]: PERSON_TEXT,
    type: "string",
    description: `${options.description} 1 to ${lengthMax} characters; white space around it is removed.`,
    minLength: 1,
    maxLength: lengthMax,
    pattern: TEXT_PATTERN,
    rule: `must be text of 1 to ${lengthMax} characters, without control characters`,
  });
}

/** Returns the stored form of a text that {@link personText} accepts. */
export function trimmed(text: string): string {
  return text.trim();
}

/** Describes the `name` of an organization, service account or API key. */
export function nameField(description: string, example: string) {
  return personText(NAME_LENGTH_MAX, { description, examples: [example] });
}
