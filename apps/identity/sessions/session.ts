import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { type Static, Type } from "@sinclair/typebox";
import { idField, shapeOf, shownRole, timeField } from "../fields.ts";

/** The lifetime of a session: one hour (ID-67). */
export const SESSION_MS = 60 * 60 * 1000;
const USER_ID_LENGTH_MAX = 128;

/** The response to a session's creation (ID-67), which never reveals the user_id. */
export const Session = Type.Object(
  {
    token: Type.String({
      description: "The session itself: shown this once and stored as a hash only.",
      examples: ["ostiary-s-2-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
    }),
    expires_at: timeField("One hour from now."),
    member_id: idField("The member that the session stands for."),
    organization_id: idField("The organization."),
    role: shownRole,
    labels: Type.Array(Type.String({ description: "A label.", examples: ["org:write"] }), {
      description:
        "The labels that the role grants now. A later change of the role applies to this session too.",
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
