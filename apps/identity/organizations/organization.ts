import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nameField, shapeOf, updatedAt } from "../fields.ts";
import type { organizations } from "../tables.ts";

/** The isolation boundary (Identity specification, Organization). */
export const Organization = Type.Object(
  {
    id: idField("The organization_id."),
    name: Type.String({ description: "The organization's name.", examples: ["Analytical Engines"] }),
    created_at: createdAt,
    updated_at: updatedAt,
  },
  shapeOf("Organization", "The isolation boundary."),
);
export type Organization = Static<typeof Organization>;

const name = nameField("The organization's name.", "Analytical Engines");
export const CreateOrganizationBody = Type.Object(
  { name },
  shapeOf("Create organization request", "A new organization."),
);
export const UpdateOrganizationBody = Type.Object(
  { name },
  shapeOf("Update organization request", "What to change."),
);

export type OrganizationRow = typeof organizations.$inferSelect;

export function toOrganization(row: OrganizationRow): Organization {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
