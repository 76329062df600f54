import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** An entry of the migration journal: one migration. */
export interface JournalEntry {
  readonly tag: string;
}

/** The migration journal of a schema, which lists its migrations in order. */
interface Journal {
  readonly entries: readonly JournalEntry[];
}

/** Returns the names of the migrations of a schema, in order. */
export async function migrationsOf(schema: string): Promise<readonly string[]> {
  const { entries }: Journal = await Bun.file(journalIn(shippedFile(`drizzle/${schema}`))).json();
  return entries.map(({ tag }) => tag);
}

/** Copies the migrations of a schema up to `last` into a folder, as an older release contains them. */
export async function writeMigrationsUntil(folder: string, schema: string, last: string): Promise<void> {
  const source = shippedFile(`drizzle/${schema}`);
  const journal: Journal = await Bun.file(journalIn(source)).json();
  const count = 1 + journal.entries.findIndex(({ tag }) => tag === last);
  const entries = journal.entries.slice(0, count);
  await mkdir(join(folder, "meta"), { recursive: true });
  await Bun.write(journalIn(folder), JSON.stringify({ ...journal, entries }));
  for (const { tag } of entries) await copyFile(join(source, `${tag}.sql`), join(folder, `${tag}.sql`));
}

function journalIn(folder: string): string {
  return join(folder, "meta/_journal.json");
}
