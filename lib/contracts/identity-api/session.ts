import { type Static, Type } from "@sinclair/typebox";
import { idField, textField, timeField } from "../../domain/schemas/index.ts";
import { shapeOf, shownRole } from "./fields.ts";

/** The response that creates a session (ID-67), without the `user_id`. */
export const Session = Type.Object(
  {
    token: textField(
      "The session token, a secret. Only this response contains the token; identity stores only its hash.",
      "ostiary-s-2-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF",
    ),
    expires_at: timeField("The time when the session expires: one hour after its creation."),
    member_id: idField("The id of the member that the session identifies."),
    organization_id: idField("The id of the organization."),
    role: shownRole,
    labels: Type.Array(textField("A label.", "org:write"), {
      description:
        "The labels that the role grants now. A later change of the role applies to this session too.",
      examples: [["org:write"]],
    }),
  },
  shapeOf("Session", "A one-hour credential of a member."),
);
export type Session = Static<typeof Session>;
