import { checkPeerTls, type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runJob, StartRefused } from "@ostiary/lib/runtime/service";
import { type Database, lacksPrivilege } from "@ostiary/lib/runtime/stores/database";
import { auditProgram } from "./config.ts";
import { lockPartitions } from "./events/partitions-sql.ts";
import { MIGRATIONS, type OwnerConfig, openAsOwner, ownerVariables, SCHEMA } from "./owner-database.ts";
import { createRole, grantWork, selectRole } from "./service-role-sql.ts";

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

export function runMigration(env: Environment, role: string | undefined): Promise<void> {
  return runJob(async (say) => say(await migrate(loadConfig(ownerVariables, env, checkPeerTls), role)), {
    program: auditProgram,
    env,
  });
}

/**
 * Grants a role the rights that the service needs. Creates the role, without a password, if it does not exist.
 * `database` must be opened as the user that owns the log's tables, and the migrations must have run.
 *
 * @throws StartRefused for a role that grants do not restrict, or if the database user may not create the role or
 * grant it rights
 */
async function grantServiceRole(database: Database, role: string): Promise<"made" | "existing"> {
  try {
    return await database.transaction("grant_service_role", async (tx) => {
      await lockPartitions(tx);
      const found = await selectRole(tx, role);
      if (found?.is_superuser) {
        throw new StartRefused(
          `The role ${role} is a superuser and bypasses all grants. Choose a role without SUPERUSER.`,
        );
      }
      if (found?.is_owner) {
        throw new StartRefused(
          `The role ${role} owns the log, or can become its owner. Choose another role.`,
        );
      }
      if (found === null) await createRole(tx, role);
      await grantWork(tx, role);
      return found === null ? "made" : "existing";
    });
  } catch (error) {
    if (!lacksPrivilege(error)) throw error;
    throw new StartRefused(
      `The user of DATABASE_URL may not create the role ${role} or grant it rights: create the role first (create role … login), and migrate as the owner of the database schema audit.`,
    );
  }
}
