import type { Database } from "@ostiary/lib/runtime/stores/database";
import { idFactory } from "./ids.ts";
import { createRoles, type Roles, type RolesFile } from "./roles/roles.ts";
import { createSecrets, type Secrets } from "./secrets.ts";

/** The time, as the service takes it; tests give their own. */
export type Clock = () => Date;

/**
 * What every part of the directory works with.
 *
 * Every transaction on `database` names its lane: the id of the organization whose rows it locks, or of the
 * person for what belongs to no organization. So the writers of one tenant wait for each other, and nobody else
 * waits for them.
 */
export interface Directory {
  readonly database: Database;
  /** The same database by connections that serve validations alone, whatever writers and readers do. */
  readonly validations: Database;
  readonly roles: Roles;
  readonly now: Clock;
  /** A new ULID, above every one this process gave before. */
  readonly newId: () => string;
  readonly secrets: Secrets;
}

export interface DirectoryOptions {
  database: Database;
  validations: Database;
  /** Null turns roles off. */
  roles_file: RolesFile | null;
  /** The first part of API keys and sessions. */
  brand: string;
  now: Clock;
  /** As many unpredictable bytes as it is asked for. */
  random: (bytes: number) => Uint8Array;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { database, validations, roles_file, brand, now, random } = options;
  return {
    database,
    validations,
    roles: createRoles(roles_file),
    now,
    newId: idFactory(now),
    secrets: createSecrets(brand, random),
  };
}
