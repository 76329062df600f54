import type { Database } from "./database.ts";

/** Applies migrations, and warns if a newer version of Ostiary has migrated the database (OP-75). */
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
