import {
  type ConfigProblem,
  checkPeerTls,
  databaseUrl,
  type Environment,
  loadConfig,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";
import { SCHEMAS, type SchemaName } from "./schemas.ts";

const ofOne = (service: string) =>
  Type.Optional(databaseUrl(`The database of ${service}, if it is not the database of DATABASE_URL.`));

/** The environment variables of `ostiary backup`. */
const backupVariables = Type.Object({
  DATABASE_URL: Type.Optional(
    databaseUrl("The database of all services, with a user who owns their schemas, or a superuser."),
  ),
  REGISTRY_DATABASE_URL: ofOne("the registry"),
  IDENTITY_DATABASE_URL: ofOne("identity"),
  AUDIT_DATABASE_URL: ofOne("audit"),
  ...tlsVariables("DATABASE"),
});
export type BackupConfig = Readonly<Static<typeof backupVariables>>;

/** One database, and the schemas of services that it contains. */
export interface Place {
  readonly url: string;
  readonly schemas: readonly SchemaName[];
}

/** @throws ConfigError with every problem of the variables */
export function loadBackupConfig(env: Environment): BackupConfig {
  return loadConfig(backupVariables, env, checkDatabases, checkPeerTls);
}

function checkDatabases(config: Partial<BackupConfig>): ConfigProblem[] {
  const missing = SCHEMAS.filter(({ variable }) => urlOf(config, variable) === undefined);
  const [first] = missing;
  if (first !== undefined) {
    const variable = missing.length === SCHEMAS.length ? "DATABASE_URL" : first.variable;
    return [{ variable, message: `is required: it names the database of the schema ${first.name}.` }];
  }
  const names = ["DATABASE_URL", ...SCHEMAS.map(({ variable }) => variable)] as const;
  return names
    .filter((variable) => config[variable]?.startsWith("pglite:"))
    .map((variable) => ({
      variable,
      message: "names an embedded database: stop the platform, and copy the database's folder instead.",
    }));
}

function urlOf(config: Partial<BackupConfig>, variable: (typeof SCHEMAS)[number]["variable"]) {
  return config[variable] ?? config.DATABASE_URL;
}

/**
 * Returns the databases, with the audit log's database last. The log's dump is then the newest, and contains the
 * events of all changes in the other dumps.
 */
export function placesOf(config: BackupConfig): Place[] {
  const byUrl = Map.groupBy(SCHEMAS, ({ variable }) => urlOf(config, variable) ?? "");
  const places = Array.from(byUrl, ([url, schemas]) => ({ url, schemas: schemas.map(({ name }) => name) }));
  return places.toSorted(
    (one, other) => Number(one.schemas.includes("audit")) - Number(other.schemas.includes("audit")),
  );
}
