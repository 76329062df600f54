import {
  type ConfigProblem,
  flag,
  integer,
  optionalBaseUrl,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

export const auditVariables = {
  AUDIT_ENABLED: flag(true, "false turns audit off."),
  AUDIT_URL: optionalBaseUrl(
    "Internal base URL of the audit service; required unless AUDIT_ENABLED is false.",
  ),
  ...tlsVariables("AUDIT"),
  AUDIT_QUEUE_SIZE: integer(
    { default: 10_000, min: 1, max: 10_000_000 },
    "The maximum number of outcomes that wait for the audit service.",
  ),
};

const auditSchema = Type.Object(auditVariables);
export type AuditConfig = Static<typeof auditSchema>;

/** Checks for `loadConfig` that AUDIT_URL is set while audit is on. */
export function checkAudit(config: Partial<AuditConfig>): ConfigProblem[] {
  if (config.AUDIT_ENABLED === false || config.AUDIT_URL !== undefined) return [];
  return [{ variable: "AUDIT_URL", message: "is required unless AUDIT_ENABLED is false." }];
}
