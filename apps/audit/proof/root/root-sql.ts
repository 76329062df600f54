import { hexOf } from "@ostiary/lib/domain/proof";
import { consistencyRanges, readRoot } from "@ostiary/lib/domain/tlog";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { selectPaths } from "../tree/tree-sql.ts";

/** Returns the newest signed root of the tree, as a note; null if none was signed. */
export async function selectNote(database: Database): Promise<string | null> {
  return (await database.run("select_note", selectTree)).note;
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

/**
 * Returns the proof that the tree of `size` leaves begins with the tree of the first `earlier` leaves, in hexadecimal.
 * Returns null if `earlier` is greater than `size`, or the stored tree lacks hashes of the proof.
 */
export async function selectConsistency(
  database: Database,
  earlier: number,
  size: number,
): Promise<string[] | null> {
  if (earlier > size) return null;
  const [path] = await database.run("select_consistency", async (orm) =>
    selectPaths(orm, (await selectTree(orm)).before, [consistencyRanges(earlier, size)]),
  );
  return path?.map(hexOf) ?? null;
}
