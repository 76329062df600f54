import { readRoot } from "@ostiary/lib/domain/tlog";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** Returns the newest signed root of the tree, as a note; null if none was signed. */
export async function selectNote(database: Database): Promise<string | null> {
  const [found] = await query<{ note: string | null }>(database, "select_note")`
    select note from audit.sealer`;
  return found?.note ?? null;
}

/** Returns the number of leaves under a signed root, or 0 without one. */
export function sizeOf(note: string | null): number {
  return readRoot(note)?.head.size ?? 0;
}

/** Returns the newest signed root, and the number of leaves of all trees before its tree. */
export async function selectTree(orm: Orm): Promise<{ note: string | null; before: number }> {
  const [found] = await rows<{ note: string | null; before: number }>(
    orm,
    sql`select note, (select coalesce(max(before), 0) from audit.trees) as before from audit.sealer`,
  );
  return found ?? { note: null, before: 0 };
}
