import { type Static, Type } from "@sinclair/typebox";
import {
  createdAt,
  idField,
  NAME_LENGTH_MAX,
  nullable,
  personText,
  shapeOf,
  shownRole,
  updatedAt,
} from "../fields.ts";
import type { Roles } from "../roles/roles.ts";

export const PersonStatus = Type.Union([Type.Literal("active"), Type.Literal("suspended")], {
  title: "Person status",
  description: "suspended: nothing of this person is admitted, in any realm.",
  rule: "must be active or suspended",
});

/** A person in the directory (Identity specification, User). */
export const User = Type.Object(
  {
    id: idField("The user_id."),
    display_name: nullable(
      Type.String({ description: "The person's global name.", examples: ["Ada Lovelace"] }),
    ),
    status: PersonStatus,
    created_at: createdAt,
    updated_at: updatedAt,
  },
  shapeOf("User", "A person in the directory."),
);
export type User = Static<typeof User>;

/** `display_name` in a request: a name, or null for none. */
export const displayNameField = nullable(
  personText(NAME_LENGTH_MAX, {
    description: "A name, or null for none.",
    examples: ["Ada Lovelace"],
  }),
  { rule: `must be null or text of 1 to ${NAME_LENGTH_MAX} characters, without control characters` },
);

/** A membership in the list of a person (Identity specification, Membership list item). */
export const Membership = Type.Object(
  {
    id: idField("The member_id."),
    organization: Type.Object(
      {
        id: idField("The organization_id."),
        name: Type.String({ description: "The organization's name.", examples: ["Analytical Engines"] }),
      },
      shapeOf("Membership organization", "The organization that a membership is in."),
    ),
    role: shownRole,
    status: Type.Literal("active", { description: "Memberships that are listed are active." }),
  },
  shapeOf("Membership", "A person's membership in an organization."),
);
export type Membership = Static<typeof Membership>;

/** A person as stored. */
export interface UserRow {
  id: string;
  displayName: string | null;
  status: "active" | "suspended";
  createdAt: Date;
  updatedAt: Date;
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    display_name: row.displayName,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** An active membership as stored, with its organization's name. */
export interface MembershipRow {
  id: string;
  organizationId: string;
  organizationName: string;
  role: string | null;
}

export function toMembership(row: MembershipRow, roles: Roles): Membership {
  return {
    id: row.id,
    organization: { id: row.organizationId, name: row.organizationName },
    role: roles.shown(row.role),
    status: "active",
  };
}
