import {
  type ConfigProblem,
  databaseUrl,
  flag,
  internalAuthToken,
  listenVariables,
  optionalInteger,
  pepper,
  requestsInFlightMax,
  swaggerEnabled,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { KEY_SECONDS_MAX, KEY_SECONDS_MIN } from "./api-keys/api-key.ts";

/** The variables of the identity service (contract 1 and 4; Identity specification, Roles file). */
export const identityVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3000, internal_port: 3001 }),
  DATABASE_URL: databaseUrl("Where the directory is kept, in the schema identity."),
  ...tlsVariables("DATABASE"),
  APIKEY_BRAND: textOr(
    "ostiary",
    "must be at most 32 lower-case letters and digits, a letter first; leave it unset for the default",
    {
      pattern: "^[a-z][a-z0-9]{0,31}$",
      refuseEmpty: true,
      description:
        "The first part of every API key and session; set but empty is refused. Changing it makes older ones invalid.",
    },
  ),
  APIKEY_MAX_AGE_SECONDS: optionalInteger(
    KEY_SECONDS_MIN,
    KEY_SECONDS_MAX,
    "Every new API key must end, and within this time. Unset: keys need not end.",
  ),
  ROLES_FILE: rolesFileVariable("Read at boot, where each of its problems is listed. Unset turns roles off."),
  SECRET_PEPPER: pepper("Secrets are stored as an HMAC with it. Unset: as plain SHA-256."),
  SECRET_PEPPER_PREVIOUS: pepper("Another one whose hashes are accepted too, while peppers are changed."),
  PLAIN_HASHES_ACCEPTED: flag(true, "false: secrets that are stored without a pepper are not valid."),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(5_000),
  SWAGGER_ENABLED: swaggerEnabled(),
});

export type IdentityConfig = Readonly<Static<typeof identityVariables>>;

/** Rules that join the peppers; a check for `loadConfig`. */
export function checkPeppers(config: Partial<IdentityConfig>): ConfigProblem[] {
  const { SECRET_PEPPER, SECRET_PEPPER_PREVIOUS, PLAIN_HASHES_ACCEPTED } = config;
  if (SECRET_PEPPER === undefined) {
    const message = "is required while PLAIN_HASHES_ACCEPTED is false.";
    return PLAIN_HASHES_ACCEPTED === false ? [{ variable: "SECRET_PEPPER", message }] : [];
  }
  const message = "is SECRET_PEPPER once more: give the other one, or leave it unset.";
  return SECRET_PEPPER === SECRET_PEPPER_PREVIOUS ? [{ variable: "SECRET_PEPPER_PREVIOUS", message }] : [];
}
