import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { knownMigrations } from "@ostiary/lib/runtime/stores/database";

/** The schemas in a backup, each with the variable that names its database. */
export const SCHEMAS = [
  { name: "routes", variable: "REGISTRY_DATABASE_URL" },
  { name: "identity", variable: "IDENTITY_DATABASE_URL" },
  { name: "audit", variable: "AUDIT_DATABASE_URL" },
] as const;

export type SchemaName = (typeof SCHEMAS)[number]["name"];

/** Returns the times, in the migration journal, of a schema's migrations that this version of Ostiary knows. */
export function migrationsOfThisVersion(schema: SchemaName): ReadonlySet<number> {
  return knownMigrations(shippedFile(`drizzle/${schema}`));
}
