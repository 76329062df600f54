import {
  databaseUrl,
  internalAuthToken,
  listenVariables,
  optionalInteger,
  swaggerEnabled,
  textOr,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { KEY_SECONDS_MAX, KEY_SECONDS_MIN } from "./api-keys/api-key.ts";

/** The variables of the identity service (contract 1 and 4; Identity specification, Roles file). */
export const identityVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3000, internal_port: 3001 }),
  DATABASE_URL: databaseUrl(),
  APIKEY_BRAND: textOr(
    "ostiary",
    "must be at most 32 lower-case letters and digits, a letter first; leave it unset for the default",
    {
      pattern: "^[a-z][a-z0-9]{0,31}$",
      refuseEmpty: true,
      description: "The first part of every API key and session. Changing it makes older ones invalid.",
    },
  ),
  APIKEY_MAX_AGE_SECONDS: optionalInteger(
    KEY_SECONDS_MIN,
    KEY_SECONDS_MAX,
    "Every new API key must end, and within this time. Unset: keys need not end.",
  ),
  ROLES_FILE: rolesFileVariable("Read at boot only. Unset turns roles off."),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  SWAGGER_ENABLED: swaggerEnabled(),
});

export type IdentityConfig = Readonly<Static<typeof identityVariables>>;
