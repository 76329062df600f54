import { isLogOrigin, LOG_ORIGIN_RULE } from "@ostiary/lib/domain/tlog";
import {
  databaseUrl,
  flag,
  integer,
  internalAuthToken,
  listenVariables,
  optionalList,
  optionalText,
  type Program,
  readableFile,
  requestsInFlightMax,
  swaggerEnabled,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";
import { SIGNING_KEY_RULE } from "./proof/root/signing-keys.ts";
import { witnessVariables } from "./proof/witnesses/witnesses-file.ts";
import { isNetwork } from "./receivers/public-addresses.ts";
import { operatorStreamVariables } from "./streams/operator/config.ts";
import { STREAM_KEYS_RULE } from "./streams/secrets.ts";
import { platformServicesVariable } from "./usage/usage-columns.ts";

/** The environment variables of the audit service (OP-5). */
export const auditVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3002, internal_port: 3003 }),
  DATABASE_URL: databaseUrl("The database of the log. The tables are in the schema audit."),
  ...tlsVariables("DATABASE"),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  EXPORT_BYTES_PER_SECOND_MIN: integer(
    { default: 16_384, min: 1, max: 1_000_000_000 },
    "The slowest pace at which a client may read an export.",
  ),
  EXPORT_LAG_MS_MAX: integer(
    { default: 30_000, min: 1, max: 3_600_000 },
    "The maximum lag of a client behind the pace of EXPORT_BYTES_PER_SECOND_MIN. A longer lag ends the export.",
  ),
  AUDIT_SIGNING_KEY_FILE: optionalText(SIGNING_KEY_RULE, {
    description:
      "The key that signs the roots of the log. Other users may not read the file. All keys of the file sign, while a new one replaces an old one. Without this variable the log is not signed, and no export can be verified as complete.",
  }),
  AUDIT_LOG_ORIGIN: textOr("ostiary/audit-log", LOG_ORIGIN_RULE, {
    check: isLogOrigin,
    description:
      "The name of the log in its signed roots. Witnesses and readers identify the log by this name: choose a different one for each environment, such as audit.example.com/log. Only ostiary audit restart changes the name of a log with events.",
  }),
  SEAL_INTERVAL_MS: integer(
    { default: 1_000, min: 50, max: 60_000 },
    "The maximum time until an event gets its position in the proof. At most 3000 with streams.",
  ),
  AUDIT_STREAM_KEY_FILE: optionalText(STREAM_KEYS_RULE, {
    description:
      "The keys that encrypt the secrets of streams. Other users may not read the file. The service reads the file again when the file changes. Without this variable there are no streams.",
  }),
  AUDIT_STREAM_ALLOWED_NETWORKS: optionalList(
    "must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas",
    isNetwork,
    "Networks that streams may call although their addresses are not public.",
  ),
  AUDIT_STREAM_ALLOWED_PORTS: optionalList(
    "must be ports from 1 to 65535, separated by commas",
    (item) => /^[1-9][0-9]{0,4}$/.test(item) && Number(item) <= 65_535,
    "Ports that streams may call in addition to 443.",
  ),
  AUDIT_STREAM_ALLOW_HTTP: flag(
    false,
    "true lets streams call http:// URLs, and port 80: for private networks and tests.",
  ),
  AUDIT_STREAM_CA_FILE: readableFile(
    "CAs (PEM) to trust for receivers of streams, instead of the public CAs. Read at start.",
  ),
  ...operatorStreamVariables,
  ...witnessVariables,
  ...platformServicesVariable,
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
  SWAGGER_ENABLED: swaggerEnabled(),
});

/** Describes audit for `--help` and for hints on misspelled variables. */
export const auditProgram: Program = {
  app: "audit",
  about:
    "Audit keeps one event for each audited request, and serves it to the organization or the person that it concerns.",
  variables: auditVariables,
};

export type AuditConfig = Readonly<Static<typeof auditVariables>>;
