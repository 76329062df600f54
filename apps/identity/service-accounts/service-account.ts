import { ServiceAccount } from "@ostiary/lib/contracts/identity-api";
import { Type } from "@sinclair/typebox";
import { nameField, shapeOf } from "../fields.ts";
import type { CurrentMemberRow } from "../members/member.ts";
import { type Roles, roleField } from "../roles/configured-roles.ts";
import type { serviceAccounts } from "../tables.ts";

export { ServiceAccount };

const name = nameField("The name of the service account.", "Nightly build");

export function createServiceAccountBody(roles: Roles) {
  return Type.Object(
    { name, role: roleField(roles, "Default: service_account_default_role, otherwise default_role.") },
    shapeOf("Create service account request", "A new service account."),
  );
}

export const UpdateServiceAccountBody = Type.Object(
  { name },
  shapeOf("Update service account request", "The changes."),
);

/** A service account with the columns of its member. */
export type ServiceAccountRow = typeof serviceAccounts.$inferSelect &
  Pick<CurrentMemberRow, "role" | "status"> & { member_id: string };

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
