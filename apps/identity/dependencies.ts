import type { Clock, SharedContext } from "@ostiary/lib/async";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { monotonicFactory } from "ulid";
import { LastUseBuffer } from "./api-keys/last-use-buffer.ts";
import { createSecrets, type Secrets } from "./new-secrets.ts";
import { createRoles, type Roles } from "./roles/configured-roles.ts";
import { type Peppers, secretHashes } from "./secret-hashes.ts";
import { type Credentials, credentialsIn } from "./validations/validation-sql.ts";

/**
 * The dependencies of every operation.
 *
 * Every transaction on `database` names a lane. The transactions of one lane use only a part of the connections, so
 * the writes of one tenant do not delay other tenants. The lane is the id of the organization whose rows the
 * transaction locks, otherwise the id of the person. Account deletions share one lane.
 */
export interface Dependencies {
  readonly database: Database;
  /** The same database over connections that only validations use, so that no other work delays them. */
  readonly validations: Database;
  /** Finds stored credentials by hash, over the connections for validations. */
  readonly credentials: Credentials;
  readonly roles: Roles;
  readonly clock: Clock;
  /** Returns a new ULID, greater than every earlier one of this process. */
  readonly newId: () => string;
  readonly secrets: Secrets;
  readonly lastUses: LastUseBuffer;
  /** The longest lifetime of a new API key; null allows keys that never expire. */
  readonly apiKeyMaxAgeSeconds: number | null;
  /** The limit for existing organizations that one person has created. */
  readonly organizationsPerPersonMax: number;
  /** The plan of a new organization, or null if it gets no plan. */
  readonly defaultPlan: string | null;
}

interface DependenciesOptions
  extends Pick<
    Dependencies,
    "database" | "validations" | "clock" | "apiKeyMaxAgeSeconds" | "organizationsPerPersonMax" | "defaultPlan"
  > {
  /** The roles file; null turns roles off. */
  rolesFile: RolesFile | null;
  /** The first part of API keys and sessions. */
  brand: string;
  peppers: Peppers;
  /** Returns the given number of unpredictable bytes. */
  random: (bytes: number) => Uint8Array;
  /** Adds a shared query to the trace of each request that waits for it. Undefined if the service exports no traces. */
  tracing?: SharedContext;
}

export function createDependencies(options: DependenciesOptions): Dependencies {
  const { rolesFile, brand, peppers, random, tracing, ...given } = options;
  const nextUlid = monotonicFactory();
  return {
    ...given,
    credentials: credentialsIn(given.validations, tracing),
    roles: createRoles(rolesFile),
    newId: () => nextUlid(given.clock.now()),
    secrets: createSecrets(brand, random, secretHashes(peppers)),
    lastUses: new LastUseBuffer(),
  };
}
