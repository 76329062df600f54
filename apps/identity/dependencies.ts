import type { Clock } from "@ostiary/lib/async";
import type { RolesFile } from "@ostiary/lib/runtime/config/roles-file";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { SharedWorkTracing } from "@ostiary/lib/runtime/telemetry";
import { monotonicFactory } from "ulid";
import { KeyUses } from "./api-keys/uses.ts";
import { createRoles, type Roles } from "./roles/roles.ts";
import { createSecretHashes, type Peppers } from "./secret-hashes.ts";
import { createSecrets, type Secrets } from "./secrets.ts";
import { type Credentials, credentialsIn } from "./validations/queries.ts";

/**
 * What every operation works with.
 *
 * Every transaction on `database` names its lane: the id of the organization whose rows it locks, or of the
 * person for what belongs to no organization. So the writers of one tenant wait for each other, and nobody else
 * waits for them.
 */
export interface Dependencies {
  readonly database: Database;
  /** The same database by connections that serve validations alone, whatever writers and readers do. */
  readonly validations: Database;
  /** Stored credentials by the hashes of their texts, over the connections for validations. */
  readonly credentials: Credentials;
  readonly roles: Roles;
  readonly clock: Clock;
  /** A new ULID, above every one this process gave before: `id` ascending is the order of creation within it. */
  readonly newId: () => string;
  readonly secrets: Secrets;
  readonly keyUses: KeyUses;
  /** How long a new API key may live at most; null: it need not end. */
  readonly api_key_max_age_seconds: number | null;
}

export interface DependenciesOptions
  extends Pick<Dependencies, "database" | "validations" | "clock" | "api_key_max_age_seconds"> {
  /** Null turns roles off. */
  roles_file: RolesFile | null;
  /** The first part of API keys and sessions. */
  brand: string;
  peppers: Peppers;
  /** As many unpredictable bytes as it is asked for. */
  random: (bytes: number) => Uint8Array;
  /** Where traces are exported. */
  tracing?: SharedWorkTracing;
}

export function createDependencies(options: DependenciesOptions): Dependencies {
  const { database, validations, roles_file, brand, clock, random, tracing } = options;
  const { peppers, api_key_max_age_seconds } = options;
  options;
  const nextUlid = monotonicFactory();
  return {
    database,
    validations,
    credentials: credentialsIn(validations, tracing),
    roles: createRoles(roles_file),
    clock,
    newId: () => nextUlid(clock.now()),
    secrets: createSecrets(brand, random, createSecretHashes(peppers)),
    keyUses: new KeyUses(),
    api_key_max_age_seconds,
  };
}
