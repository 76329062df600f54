import type { Database } from "./database.ts";

/** The part of a logger that {@link migrateAtStart} uses. */
interface WarningLog {
  warn(fields: object, message: string): void;
}

/**
 * Applies migrations at the start of a service. Logs a warning if a newer version of Ostiary has already
 * migrated the database (OP-75).
 */
export async function migrateAtStart(
  database: Database,
  schema: string,
  folder: string,
  log: WarningLog,
): Promise<void> {
  const newer = await database.migrate(schema, folder);
  if (newer === 0) return;
  log.warn({ schema, migrations: newer }, "the database is newer than this version");
}
