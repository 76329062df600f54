import { type Checkpoint, checkpointText, type Hash, hashFromHex } from "@ostiary/lib/domain/proof";
import { TILE_WIDTH, type TreeNode } from "@ostiary/lib/domain/tlog";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { CHECKPOINT_COLUMNS, type CheckpointRow, checkpointOf } from "../published-checkpoints/sql.ts";

const HASH_BYTES = 32;

/** Returns the newest signed root of the tree, as a note; null if none was signed. */
export async function selectNote(database: Database): Promise<string | null> {
  const [found] = await query<{ note: string | null }>(database, "select_note")`
    select note from audit.sealer`;
  return found?.note ?? null;
}

/** Returns the hashes of complete subtrees in their order; null for a subtree that the stored tree lacks. */
export async function selectSubtrees(
  database: Database,
  nodes: readonly TreeNode[],
): Promise<(Hash | null)[]> {
  if (nodes.length === 0) return [];
  // the row of the last leaf below a subtree contains the subtree's hash
  const wanted = nodes.map(({ level, index }) => ({ number: (index + 1) * 2 ** level, level }));
  const found = await query<{ n: number; hash: string | null }>(database, "select_subtrees")`
    select wanted.n::integer as n,
        encode(substring(known.hashes from wanted.level * ${sql.raw(String(HASH_BYTES))} + 1
          for ${sql.raw(String(HASH_BYTES))}), 'hex') as hash
      from rows from (json_to_recordset(${JSON.stringify(wanted)}::text::json) as (number bigint, level integer))
          with ordinality as wanted(number, level, n)
        join audit.checkpoint_tree known using (number)`;
  const hashes: (Hash | null)[] = nodes.map(() => null);
  for (const { n, hash } of found) {
    if (hash?.length === 2 * HASH_BYTES) hashes[n - 1] = hashFromHex(hash);
  }
  return hashes;
}

/** Returns the checkpoints from `first` on, in the order of their numbers. */
export async function selectCheckpointsFrom(
  database: Database,
  first: number,
  limit: number,
): Promise<Checkpoint[]> {
  const found = await query<CheckpointRow>(database, "select_checkpoints_from")`
    select ${CHECKPOINT_COLUMNS} from audit.checkpoints where number >= ${String(first)}::text::bigint
      order by number limit ${limit}`;
  return found.map(checkpointOf);
}

/** Returns the texts of the leaves of a tile, in their order; fewer than `width` if the tree ends earlier. */
export async function selectLeafTexts(database: Database, index: number, width: number): Promise<string[]> {
  const first = index * TILE_WIDTH + 1;
  const found = await query<CheckpointRow>(database, "select_leaf_texts")`
    select ${CHECKPOINT_COLUMNS} from audit.checkpoints join audit.checkpoint_tree using (number)
      where number between ${String(first)}::text::bigint and ${String(first + width - 1)}::text::bigint
      order by number`;
  return found.map(checkpointOf).map(checkpointText);
}
