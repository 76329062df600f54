import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, shapeOf, updatedAt } from "../fields.ts";

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

export interface OrganizationRow {
  id: string;
  name: string;
  createdAt: Date;
  updatedAt: Date;
}

export function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
