import { type Static, Type } from "@sinclair/typebox";
import { idField, nullable, textField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf, shownRole, updated_at } from "./fields.ts";

export const PersonStatus = Type.Union([Type.Literal("active"), Type.Literal("suspended")], {
  title: "Person status",
  description: "suspended: no credential of this person is admitted, in any realm.",
  rule: "must be active or suspended",
});

/** A person in the directory (ID-15). */
export const User = Type.Object(
  {
    id: idField("The user_id."),
    display_name: nullable(textField("The person's global name.", "Ada Lovelace")),
    status: PersonStatus,
    created_at,
    updated_at,
  },
  shapeOf("User", "A person in the directory."),
);
export type User = Static<typeof User>;

/** An entry in a person's list of memberships (ID-19). */
export const Membership = Type.Object(
  {
    id: idField("The member_id."),
    organization: Type.Object(
      {
        id: idField("The organization_id."),
        name: textField("The organization's name.", "Analytical Engines"),
      },
      shapeOf("Membership organization", "The organization of a membership."),
    ),
    role: shownRole,
    status: Type.Literal("active", { description: "Only active memberships are listed." }),
  },
  shapeOf("Membership", "A person's membership in an organization."),
);
export type Membership = Static<typeof Membership>;
