import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nameField, shapeOf, shownRole, updatedAt } from "../fields.ts";
import { type LivingMemberRow, MemberStatus } from "../members/member.ts";
import { type Roles, roleField } from "../roles/roles.ts";
import type { serviceAccounts } from "../tables.ts";

/** A non-human member of one organization (Identity specification, Service account). */
export const ServiceAccount = Type.Object(
  {
    id: idField("The service_account_id."),
    organization_id: idField("The organization."),
    member_id: idField("Its member: suspend it, re-enable it or give it another role there."),
    name: Type.String({ description: "What it is called.", examples: ["Nightly build"] }),
    role: shownRole,
    status: MemberStatus,
    created_at: createdAt,
    updated_at: updatedAt,
  },
  shapeOf("Service account", "A non-human member of one organization."),
);
export type ServiceAccount = Static<typeof ServiceAccount>;

const name = nameField("What the service account is called.", "Nightly build");

export function createServiceAccountBody(roles: Roles) {
  return Type.Object(
    { name, role: roleField(roles, "Left out: service_account_default_role, else default_role.") },
    shapeOf("Create service account request", "A new service account."),
  );
}

export const UpdateServiceAccountBody = Type.Object(
  { name },
  shapeOf("Update service account request", "What to change."),
);

/** A service account with what its member tells. */
export type ServiceAccountRow = typeof serviceAccounts.$inferSelect &
  Pick<LivingMemberRow, "role" | "status"> & { member_id: string };

export function toServiceAccount(row: ServiceAccountRow, roles: Roles): ServiceAccount {
  return {
    id: row.id,
    organization_id: row.organization_id,
    member_id: row.member_id,
    name: row.name,
    role: roles.shown(row.role),
    status: row.status,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
