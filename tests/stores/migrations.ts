import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";

/** Applies the migrations in a folder, as a service does when it starts. */
export async function migrate(url: string, schema: string, folder: string): Promise<number> {
  const database = await openDatabase(url, { namespace: "test", poolMax: 2 });
  return await database.migrate(schema, folder).finally(() => database.close());
}

/**
 * Writes a folder of migrations in drizzle's layout: the SQL files, and the journal that lists them in order.
 */
export async function writeMigrations(
  folder: string,
  migrations: Record<string, string>,
  firstMs = 1_700_000_000_000,
): Promise<void> {
  await mkdir(join(folder, "meta"), { recursive: true });
  const entries = Object.keys(migrations).map((tag, index) => ({
    idx: index,
    version: "7",
    when: firstMs + index,
    tag,
    breakpoints: true,
  }));
  await writeFile(
    join(folder, "meta", "_journal.json"),
    JSON.stringify({ version: "7", dialect: "postgresql", entries }),
  );
  for (const [tag, text] of Object.entries(migrations)) await writeFile(join(folder, `${tag}.sql`), text);
}
