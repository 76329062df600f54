import { nullable, textField, timeField } from "../../domain/schemas/index.ts";

export const created_at = timeField("The time of creation.");
export const updated_at = timeField("The time of the last change.");

/** A response with an unknown field, which would leak something such as `user_id`, fails. */
export function shapeOf(title: string, description: string) {
  return { title, description, additionalProperties: false } as const;
}

export const shownRole = nullable(
  textField("The slug of a role, or null if identity has no ROLES_FILE.", "admin"),
);
