import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, shapeOf, shownRole, updatedAt } from "../fields.ts";
import { MemberStatus } from "../members/member.ts";
import type { Roles } from "../roles/roles.ts";

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

/** A service account as stored, with what its member tells. */
export interface ServiceAccountRow {
  id: string;
  organizationId: string;
  memberId: string;
  name: string;
  role: string | null;
  status: "active" | "suspended";
  createdAt: Date;
  updatedAt: Date;
}

export function toServiceAccount(row: ServiceAccountRow, roles: Roles): ServiceAccount {
  return {
    id: row.id,
    organization_id: row.organizationId,
    member_id: row.memberId,
    name: row.name,
    role: roles.shown(row.role),
    status: row.status,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
