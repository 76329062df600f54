import {
  databaseUrl,
  integer,
  internalAuthToken,
  listenVariables,
  optionalText,
  requestsInFlightMax,
  swaggerEnabled,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

/** The variables of the audit service (contract 1; Identity specification, Audit internal API). */
export const auditVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3002, internal_port: 3003 }),
  DATABASE_URL: databaseUrl("Where the log is kept, in the schema audit."),
  ...tlsVariables("DATABASE"),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  EXPORT_BYTES_PER_SECOND_MIN: integer(
    16_384,
    1,
    1_000_000_000,
    "The least pace at which a client must read an export.",
  ),
  EXPORT_LAG_MS_MAX: integer(30_000, 1, 3_600_000, "How far a client may fall behind that pace."),
  AUDIT_SIGNING_KEY_FILE: optionalText(
    "must be the path of an Ed25519 private key in PKCS #8 (PEM), such as openssl genpkey -algorithm ed25519 makes",
    { description: "Signs checkpoints; others may not read it. Unset leaves them unsigned." },
  ),
  SEAL_INTERVAL_MS: integer(1_000, 50, 60_000, "How long an event may wait for its place in the proof."),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
  SWAGGER_ENABLED: swaggerEnabled(),
});

export type AuditConfig = Readonly<Static<typeof auditVariables>>;
