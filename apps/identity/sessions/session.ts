import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { type Static, Type } from "@sinclair/typebox";
import { idField, shapeOf, shownRole, timeField } from "../fields.ts";

/** A session is valid for one hour from its mint (Identity specification, Limits). */
export const SESSION_MS = 60 * 60 * 1000;
const USER_ID_LENGTH_MAX = 128;

/** The answer of a mint (Identity specification, Session). It never tells the user_id. */
export const Session = Type.Object(
  {
    token: Type.String({
      description: "The session itself: shown this once and stored as a hash only.",
      examples: ["ostiary-s-2-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
    }),
    expires_at: timeField("One hour from now."),
    member_id: idField("The member that the session is."),
    organization_id: idField("The organization."),
    role: shownRole,
    labels: Type.Array(Type.String({ description: "A label.", examples: ["org:write"] }), {
      description: "What the role grants now; a later change of the role reaches this session too.",
      examples: [["org:write"]],
    }),
  },
  shapeOf("Session", "A one-hour credential of a member."),
);
export type Session = Static<typeof Session>;

export const MintSessionBody = Type.Object(
  {},
  shapeOf("Mint session request", "Nothing, or an empty object."),
);

/** Refuses with 422 ids that are empty, or a user_id that is longer than any could be. */
export function checkSessionIds(userId: string, organizationId: string): void {
  const fields: FieldError[] = [];
  if (userId === "" || userId.length > USER_ID_LENGTH_MAX) {
    fields.push({ path: "user_id", message: `user_id must have 1 to ${USER_ID_LENGTH_MAX} characters.` });
  }
  if (organizationId === "") {
    fields.push({ path: "organization_id", message: "organization_id must not be empty." });
  }
  if (fields.length > 0) throw validationError(fields);
}
