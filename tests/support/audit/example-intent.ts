import type { AuditIntent } from "@ostiary/lib/contracts/audit";

/** The intent of a request on an organization route. */
export const exampleIntent: AuditIntent = {
  occurred_at: new Date().toISOString(),
  organization_id: "organization-1",
  user_id: null,
  actor: { member_id: "member-1", auth_type: "member_apikey", key_prefix: "ostiary-k-2-abcd" },
  service: "widgets",
  method: "POST",
  route: "/org/widgets/{widget_id}",
  params: { widget_id: "widget-1" },
  ip: "192.0.2.1",
  user_agent: "test/1.0",
};
