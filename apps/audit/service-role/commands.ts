import { StartRefused } from "@ostiary/lib/runtime/service";
import { type Database, sqlState } from "@ostiary/lib/runtime/stores/database";
import { createRole, grantWork, selectRole } from "./queries.ts";

const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Lets a role do the service's work, and makes it where it does not exist: without a password, which its operator
 * sets. To be called as the owner of the log, after its migrations.
 *
 * @throws StartRefused for a role that triggers and grants do not bind, and where this user may not make one
 */
export async function grantServiceRole(database: Database, role: string): Promise<"made" | "existing"> {
  try {
    return await database.transaction("grant_service_role", async (tx) => {
      const found = await selectRole(tx, role);
      if (found?.is_superuser)
        throw new StartRefused(`The role ${role} is a superuser, whom nothing binds: name another.`);
      if (found?.is_owner) {
        throw new StartRefused(`The role ${role} owns the log, or can become its owner: name another.`);
      }
      if (found === null) await createRole(tx, role);
      await grantWork(tx, role);
      return found === null ? "made" : "existing";
    });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StartRefused(
      `The user of DATABASE_URL may not make the role ${role} or give it rights: make it first (create role … login), and migrate as the owner of schema audit.`,
    );
  }
}
