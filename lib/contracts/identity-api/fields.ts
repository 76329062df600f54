import { Type } from "@sinclair/typebox";
import { nullable, timeField } from "../../domain/schemas/index.ts";

export const createdAt = timeField("When it was created.");
export const updatedAt = timeField("When it was last changed.");

/**
 * Returns the options of a response schema. The schema allows no other field, so a response with one more,
 * such as a user_id, fails.
 */
export function shapeOf(title: string, description: string) {
  return { title, description, additionalProperties: false } as const;
}

/** The role in responses. */
export const shownRole = nullable(
  Type.String({
    description: "A slug of the roles file, or null while roles are off.",
    examples: ["admin"],
  }),
);
