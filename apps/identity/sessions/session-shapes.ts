import { Session } from "@ostiary/lib/contracts/identity-api";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { Type } from "@sinclair/typebox";
import { shapeOf } from "../fields.ts";

export { Session };

/** The lifetime of a session: one hour (ID-67). */
export const SESSION_MS = 60 * 60 * 1000;
const USER_ID_LENGTH_MAX = 128;

export const MintSessionBody = Type.Object(
  {},
  shapeOf("Mint session request", "Nothing, or an empty object."),
);

/** Refuses empty ids, and a user_id that is too long, with 422. */
export function checkSessionIds(user_id: string, organization_id: string): void {
  const fields: FieldError[] = [];
  if (user_id === "" || user_id.length > USER_ID_LENGTH_MAX) {
    fields.push({ path: "user_id", message: `user_id must have 1 to ${USER_ID_LENGTH_MAX} characters.` });
  }
  if (organization_id === "") {
    fields.push({ path: "organization_id", message: "organization_id must not be empty." });
  }
  if (fields.length > 0) throw validationError(fields);
}
