import { type TSchema, Type } from "@sinclair/typebox";

/** Building blocks of the shapes of this service's requests and answers. */

/** One character that may stand in a name: no control characters, and surrogates only in pairs. */
const CHARACTER = "(?:[\\u0020-\\u007E\\u00A0-\\uD7FF\\uE000-\\uFFFF]|[\\uD800-\\uDBFF][\\uDC00-\\uDFFF])";

export interface TextOptions {
  description: string;
  examples: string[];
}

/**
 * Text that a person wrote: 1 to `length_max` characters once {@link trimmed}, counted as characters and not
 * as the units that JavaScript or UTF-8 need for them.
 */
export function personText(length_max: number, options: TextOptions) {
  return Type.String({
    ...options,
    description: `${options.description} 1 to ${length_max} characters; white space around it is removed.`,
    pattern: `^\\s*(?=\\S)${CHARACTER}{1,${length_max}}?\\s*$`,
    rule: `must be text of 1 to ${length_max} characters, without control characters`,
  });
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

export function idField(description: string) {
  return Type.String({ description, examples: ["01KA4YB0Q9X3M5N7P8R2S6T1VW"] });
}

export function timeField(description: string) {
  return Type.String({
    description: `${description} RFC 3339, UTC, milliseconds.`,
    examples: ["2026-01-31T12:00:00.000Z"],
  });
}

export const createdAt = timeField("When it was created.");
export const updatedAt = timeField("When it was last changed.");

/**
 * Options of a shape in answers: its name in the OpenAPI document, and that it has no other field. An answer
 * with one more, such as a user_id, fails instead of telling it.
 */
export function shapeOf(title: string) {
  return { title, additionalProperties: false } as const;
}

/** `schema` or null; `rule` is the sentence for what is neither. */
export function nullable<Schema extends TSchema>(schema: Schema, rule?: string) {
  const { description, examples } = schema;
  return Type.Union([schema, Type.Null()], { description, examples, ...(rule && { rule }) });
}

/** A role as answers show it. */
export const shownRole = nullable(
  Type.String({
    description: "A slug of the roles file; null while roles are off.",
    examples: ["admin"],
  }),
);

/** The query of an operation that takes none: any parameter is 422. */
export const noQuery = Type.Object({}, { additionalProperties: false });

const PathIds = Type.Object({
  user_id: idField("The person."),
  organization_id: idField("The organization."),
  member_id: idField("The member."),
  service_account_id: idField("The service account."),
  invite_id: idField("The invite."),
  key_id: idField("The API key."),
});

/** Path parameters, by name. Whatever they hold, an id that names nothing is 404. */
export function pathIds<Names extends (keyof typeof PathIds.properties)[]>(...names: [...Names]) {
  return Type.Pick(PathIds, names);
}
