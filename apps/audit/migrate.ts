import {
  checkPeerTls,
  databaseUrl,
  type Environment,
  loadConfig,
  peerTls,
  tlsVariables,
} from "@ostiary/lib/runtime/config";
import { runMain } from "@ostiary/lib/runtime/service";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { type Static, Type } from "@sinclair/typebox";
import { MIGRATIONS, SCHEMA } from "./schema.ts";
import { grantServiceRole } from "./service-role/commands.ts";

/** The variables of `migrate`: those of the service that lead to its database. */
export const migrateVariables = Type.Object({
  DATABASE_URL: databaseUrl("Where the log is kept, as its owner."),
  ...tlsVariables("DATABASE"),
});

/** Migrates as the owner, lets `role` do the service's work, and says what was done. */
export async function migrate(
  config: Readonly<Static<typeof migrateVariables>>,
  role: string | undefined,
): Promise<string> {
  const tls = peerTls(config, "DATABASE");
  const database = await openDatabase(config.DATABASE_URL, { namespace: SCHEMA, tls, pool_max: 1 });
  try {
    await database.migrate(SCHEMA, MIGRATIONS);
    if (role === undefined) return "Migrated.\n";
    const found = await grantServiceRole(database, role);
    const password = found === "made" ? ` It has no password yet: \\password ${role}, in psql.` : "";
    return `Migrated. The role ${role} can do the service's work.${password}\n`;
  } finally {
    await database.close();
  }
}

/** {@link migrate} as a process: it says what was done, and ends. */
export function runMigration(env: Environment, role: string | undefined): Promise<void> {
  return runMain(async () => {
    const told = await migrate(loadConfig(migrateVariables, env, checkPeerTls), role);
    process.stdout.on("error", () => {}); // a reader that has seen enough
    process.stdout.write(told, () => process.exit(0));
    return [];
  });
}
