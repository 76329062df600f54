import { type Static, Type } from "@sinclair/typebox";
import { idField, nullable, textField, timeField, wholeField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf, shownRole } from "./fields.ts";

const status = Type.Union(
  [Type.Literal("active"), Type.Literal("redeemed"), Type.Literal("revoked"), Type.Literal("expired")],
  {
    title: "Invite status",
    description: "Only an active invite can be redeemed; the other states are final.",
  },
);

/** An invite as a person sees it before redeeming it (ID-119). */
export const InvitePreview = Type.Object(
  {
    organization: Type.Object(
      {
        id: idField("The organization_id."),
        name: textField("The organization's name.", "Analytical Engines"),
      },
      shapeOf("Invite organization", "The organization that the invite leads to."),
    ),
    role: shownRole,
    status,
    expires_at: timeField("The time when the invite stops being active."),
    member_id: nullable(idField("The id of the person's membership, or null for a person who is no member.")),
  },
  shapeOf("Invite preview", "The organization and the role that an invite leads to."),
);
export type InvitePreview = Static<typeof InvitePreview>;

/** A token to join an organization (ID-39). */
export const Invite = Type.Object(
  {
    id: idField("The invite_id."),
    organization_id: idField("The id of the organization."),
    email: Type.Optional(
      textField(
        "The e-mail address that is shown with the invite while the invite is active. Identity sends no e-mail.",
        "ada@example.com",
      ),
    ),
    role: shownRole,
    token_prefix: textField("The first characters of the token, which may be shown.", "inv_Zm9v"),
    token: Type.Optional(
      textField(
        "The token; present only while the invite is active.",
        "inv_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF",
      ),
    ),
    status,
    max_uses: nullable(
      wholeField(
        1,
        "The maximum number of times that the invite can be redeemed. Null means that there is no maximum.",
        5,
      ),
    ),
    use_count: wholeField(0, "The number of times that the invite has been redeemed.", 2),
    expires_at: timeField("The time when the invite stops being active."),
    created_at,
  },
  shapeOf("Invite", "A token to join an organization."),
);
export type Invite = Static<typeof Invite>;
