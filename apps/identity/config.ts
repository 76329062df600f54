import { PlanName } from "@ostiary/lib/domain/routes";
import {
  type ConfigProblem,
  databaseUrl,
  flag,
  integer,
  internalAuthToken,
  listenVariables,
  optionalInteger,
  optionalText,
  type Program,
  requestsInFlightMax,
  swaggerEnabled,
  textOr,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { rolesFileVariable } from "@ostiary/lib/runtime/config/roles-file";
import { type Static, Type } from "@sinclair/typebox";
import { KEY_SECONDS_MAX, KEY_SECONDS_MIN } from "./api-keys/api-key.ts";

const PEPPER_LENGTH_MIN = 32;
/** The block size of SHA-256. */
const PEPPER_LENGTH_MAX = 64;

/** A key for hashing secrets, which is not stored with the hashes. */
function pepper(description: string) {
  return optionalText(
    `must be ${PEPPER_LENGTH_MIN} to ${PEPPER_LENGTH_MAX} characters of visible ASCII without spaces, for example the output of \`openssl rand -hex 32\``,
    { pattern: `^[\\x21-\\x7e]{${PEPPER_LENGTH_MIN},${PEPPER_LENGTH_MAX}}$`, secret: true, description },
  );
}

/** The environment variables of the identity service (ID-70, OP-5). */
export const identityVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3000, internal_port: 3001 }),
  DATABASE_URL: databaseUrl("The database of the directory. Identity uses the database schema identity."),
  ...tlsVariables("DATABASE"),
  APIKEY_BRAND: textOr(
    "ostiary",
    "must be at most 32 lower-case letters and digits, a letter first; leave it unset for the default",
    {
      pattern: "^[a-z][a-z0-9]{0,31}$",
      refuseEmpty: true,
      description:
        "The first part of every API key and session; an empty value is refused. A change invalidates older keys and sessions.",
    },
  ),
  APIKEY_MAX_AGE_SECONDS: optionalInteger(
    KEY_SECONDS_MIN,
    KEY_SECONDS_MAX,
    "The maximum lifetime of new API keys. If it is set, every new key must expire.",
  ),
  ORGANIZATIONS_PER_PERSON_MAX: integer(
    { default: 50, min: 1, max: 1_000_000 },
    "The maximum number of existing organizations that one person has created. Organizations that staff create do not count.",
  ),
  DEFAULT_PLAN: optionalText(PlanName.rule, {
    pattern: PlanName.pattern,
    description: "The plan of each new organization. Without this variable, a new organization has no plan.",
  }),
  ROLES_FILE: rolesFileVariable(
    "The roles file, which identity reads and checks at start. Without this variable, roles are off.",
  ),
  SECRET_PEPPER: pepper(
    "The key of the HMAC with which identity hashes secrets. Without this variable, hashes are plain SHA-256.",
  ),
  SECRET_PEPPER_PREVIOUS: pepper(
    "The other pepper during a change of the pepper: identity accepts its hashes too.",
  ),
  PLAIN_HASHES_ACCEPTED: flag(true, "Whether identity accepts secrets whose stored hash has no pepper."),
  INTERNAL_AUTH_TOKEN: internalAuthToken(),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(5_000),
  SWAGGER_ENABLED: swaggerEnabled(),
});

/** Describes identity for `--help` and for hints on misspelled variables. */
export const identityProgram: Program = {
  app: "identity",
  about:
    "Identity is the directory of people, organizations, members, invites, service accounts, API keys and sessions.",
  variables: identityVariables,
};

export type IdentityConfig = Readonly<Static<typeof identityVariables>>;

/** Checks the pepper variables against each other. Passed to `loadConfig`. */
export function checkPeppers(config: Partial<IdentityConfig>): ConfigProblem[] {
  const { SECRET_PEPPER, SECRET_PEPPER_PREVIOUS, PLAIN_HASHES_ACCEPTED } = config;
  if (SECRET_PEPPER === undefined) {
    const message = "is required while PLAIN_HASHES_ACCEPTED is false.";
    return PLAIN_HASHES_ACCEPTED === false ? [{ variable: "SECRET_PEPPER", message }] : [];
  }
  const message = "is the same as SECRET_PEPPER: set it to the other pepper, or leave it unset.";
  return SECRET_PEPPER === SECRET_PEPPER_PREVIOUS ? [{ variable: "SECRET_PEPPER_PREVIOUS", message }] : [];
}
