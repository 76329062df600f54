import { databaseUrl, tlsVariables } from "@ostiary/lib/runtime/config";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { type Database, openConfigured } from "@ostiary/lib/runtime/stores/database";
import { type Static, Type } from "@sinclair/typebox";

/** The PostgreSQL schema of the log, and its migrations. */
export const SCHEMA = "audit";
export const MIGRATIONS = shippedFile("drizzle/audit");

export const ownerVariables = Type.Object({
  DATABASE_URL: databaseUrl("The database of the log. The user must own the tables of the log."),
  ...tlsVariables("DATABASE"),
});
export type OwnerConfig = Readonly<Static<typeof ownerVariables>>;

/** Time limit of a statement, long enough to read a whole month. */
const STATEMENT_MS = 3_600_000;
/** The maximum number of connections. A command reads and writes at the same time. */
const CONNECTIONS = 3;

export function openAsOwner(config: OwnerConfig): Promise<Database> {
  return openConfigured(config, {
    namespace: SCHEMA,
    poolMax: CONNECTIONS,
    progressMs: STATEMENT_MS,
    deadlineMs: "progress",
  });
}
