import { type Static, Type } from "@sinclair/typebox";
import { idField, textField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf, shownRole, updated_at } from "./fields.ts";
import { MemberStatus } from "./member.ts";

/** A non-human member of one organization (ID-50). */
export const ServiceAccount = Type.Object(
  {
    id: idField("The service_account_id."),
    organization_id: idField("The id of the organization."),
    member_id: idField("The member_id of the service account. To change status or role, update the member."),
    name: textField("The name of the service account.", "Nightly build"),
    role: shownRole,
    status: MemberStatus,
    created_at,
    updated_at,
  },
  shapeOf("Service account", "A non-human member of one organization."),
);
export type ServiceAccount = Static<typeof ServiceAccount>;
