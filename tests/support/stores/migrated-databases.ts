import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { freshDatabase, services } from "./services.ts";

/** Returns a function that makes databases with the tables of a service, as copies of one that was migrated. */
export function migratedDatabases(service: string, migrations: string): () => Promise<string> {
  let template: Promise<string> | undefined;
  const migrated = async () => {
    const url = await freshDatabase();
    const database = await openDatabase(url, { namespace: service });
    await database.migrate(service, migrations);
    await database.close();
    return new URL(url).pathname.slice(1);
  };
  return async () => {
    if (!services().postgres.real) return freshDatabase();
    template ??= migrated().catch((error) => {
      // A busy server can cancel a statement. The next test migrates again.
      template = undefined;
      throw error;
    });
    return freshDatabase(await template);
  };
}
