import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runJob } from "@ostiary/lib/runtime/service";
import { auditProgram } from "./config.ts";
import { checkOwnerConfig, type OwnerConfig, openAsOwner, ownerVariables } from "./database-owner.ts";
import { MIGRATIONS, SCHEMA } from "./database-schema.ts";
import { grantServiceRole } from "./service-role/commands.ts";

/** Runs the migrations, grants `role` the service's rights, and returns a report. */
export async function migrate(config: OwnerConfig, role: string | undefined): Promise<string> {
  const database = await openAsOwner(config);
  try {
    await database.migrate(SCHEMA, MIGRATIONS);
    if (role === undefined) return "Migrated.\n";
    const found = await grantServiceRole(database, role);
    const password =
      found === "made" ? ` The role has no password yet: set one with \\password ${role} in psql.` : "";
    return `Migrated. The role ${role} can do the service's work.${password}\n`;
  } finally {
    await database.close();
  }
}

/** Runs {@link migrate} as a process that prints the report and exits. */
export function runMigration(env: Environment, role: string | undefined): Promise<void> {
  return runJob(async (say) => say(await migrate(loadConfig(ownerVariables, env, checkOwnerConfig), role)), {
    program: auditProgram,
    env,
  });
}
