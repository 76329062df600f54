import type { Database } from "./database.ts";

/**
 * Applies migrations at the start of a service. Logs a warning if a newer version of Ostiary has already
 * migrated the database (OP-75).
 */
export async function migrateAtStart(
  database: Database,
  schema: string,
  folder: string,
  log: { warn(fields: object, message: string): void },
): Promise<void> {
  const newer = await database.migrate(schema, folder);
  if (newer === 0) return;
  log.warn({ schema, migrations: newer }, "the database is newer than this version");
}
