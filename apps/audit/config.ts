import {
  databaseUrl,
  integer,
  internalAuthToken,
  listenVariables,
  swaggerEnabled,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

/** The variables of the audit service (contract 1; Identity specification, Audit internal API). */
export const auditVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3002, internal_port: 3003 }),
  DATABASE_URL: databaseUrl(),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  EXPORT_BYTES_PER_SECOND_MIN: integer(
    16_384,
    1,
    1_000_000_000,
    "The least pace at which an export is read.",
  ),
  EXPORT_LAG_MS_MAX: integer(30_000, 1, 3_600_000, "How far a client may fall behind that pace."),
  SWAGGER_ENABLED: swaggerEnabled(),
});

export type AuditConfig = Readonly<Static<typeof auditVariables>>;
