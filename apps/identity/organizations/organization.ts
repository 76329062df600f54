import { Organization } from "@ostiary/lib/contracts/identity-api";
import { PlanName } from "@ostiary/lib/domain/routes";
import { ULID_PATTERN } from "@ostiary/lib/domain/schemas";
import { Type } from "@sinclair/typebox";
import { idField, nameField, nullable, shapeOf } from "../fields.ts";
import type { organizations } from "../tables.ts";

export { Organization };

const name = nameField("The organization's name.", "Analytical Engines");
export const CreateOrganizationBody = Type.Object(
  { name },
  shapeOf("Create organization request", "A new organization."),
);
export const CreateOrganizationForPersonBody = Type.Object(
  {
    name,
    user_id: {
      ...idField("The person who becomes the first member."),
      pattern: ULID_PATTERN,
      rule: "must be the id (a ULID) of a person",
    },
  },
  shapeOf("Create organization for a person request", "A new organization and its first member."),
);
export const UpdateOrganizationBody = Type.Object(
  { name },
  shapeOf("Update organization request", "The changes."),
);

export const ChangePlanBody = Type.Object(
  { plan: nullable(PlanName, { description: "The new plan, or null for no plan." }) },
  shapeOf("Change plan request", "The plan to change to."),
);

/** An organization without its creator, which no response shows. */
export type OrganizationRow = Omit<typeof organizations.$inferSelect, "created_by">;

export function toOrganization({ id, name, plan, created_at, updated_at }: OrganizationRow): Organization {
  return { id, name, plan, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
