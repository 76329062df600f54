import { type Hash, hashFromHex, hexOf, type Leaf } from "@ostiary/lib/domain/proof";
import {
  consistencyRanges,
  foldedHash,
  type LeafRange,
  nodesOf,
  readRoot,
  type TreeNode,
} from "@ostiary/lib/domain/tlog";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";

const HASH_BYTES = 32;

/** A leaf as stored: `number` counts the leaves of all trees, from 1. */
export interface LeafRow {
  number: number;
  sealed_at: string;
  map: string;
}

export const LEAF_COLUMNS = sql.raw("number, sealed_at, encode(map, 'hex') as map");

/**
 * The first number that no leaf of the newest tree can have: a tree would get a leaf each millisecond for 34 years.
 * Rows from this number on were added by somebody. They do not count, because a number near 2^53 has no next number.
 */
export const LEAF_NUMBER_END = sql.raw(`(select coalesce(max(before), 0) + ${2 ** 40} from audit.trees)`);

/** The number of the newest stored leaf, or null before the first. */
export const NEWEST_LEAF = sql`(select max(number) from audit.leaves where number < ${LEAF_NUMBER_END})`;

/** Returns a stored leaf as its tree holds it. `before` is the number of leaves of all earlier trees. */
export function leafOf({ number, sealed_at, map }: LeafRow, before: number): Leaf {
  return { number: Number(number) - before - 1, sealed_at: new Date(sealed_at).toISOString(), map };
}

/** Returns the stored leaves that a condition selects, in the order of their numbers. */
export function selectLeaves(orm: Orm, condition: SQL): Promise<LeafRow[]> {
  return rows<LeafRow>(orm, sql`select ${LEAF_COLUMNS} from audit.leaves where ${condition} order by number`);
}

/** Returns the hashes of complete subtrees in their order; null for a subtree that the stored tree lacks. */
export async function selectSubtrees(
  orm: Orm,
  before: number,
  nodes: readonly TreeNode[],
): Promise<(Hash | null)[]> {
  if (nodes.length === 0) return [];
  // the row of the last leaf below a subtree contains the subtree's hash
  const wanted = nodes.map(({ level, index }) => ({ number: before + (index + 1) * 2 ** level, level }));
  const bytes = sql.raw(String(HASH_BYTES));
  const found = await rows<{ n: number; hash: string | null }>(
    orm,
    sql`select wanted.n::integer as n,
        encode(substring(known.hashes from wanted.level * ${bytes} + 1 for ${bytes}), 'hex') as hash
      from rows from (json_to_recordset(${JSON.stringify(wanted)}::text::json) as (number bigint, level integer))
          with ordinality as wanted(number, level, n)
        join audit.leaves known using (number)`,
  );
  const hashes: (Hash | null)[] = nodes.map(() => null);
  for (const { n, hash } of found) {
    if (hash?.length === 2 * HASH_BYTES) hashes[n - 1] = hashFromHex(hash);
  }
  return hashes;
}

/** Returns the hashes of the complete subtrees of a tree of `size` leaves; null if the stored tree lacks one. */
export async function selectFrontier(orm: Orm, before: number, size: number): Promise<Hash[] | null> {
  const found = await selectSubtrees(orm, before, nodesOf({ from: 0, to: size }));
  const frontier = found.filter((hash) => hash !== null);
  return frontier.length < found.length ? null : frontier;
}

/** Returns the hashes of each path, in hexadecimal; null for a path if the stored tree lacks one of its hashes. */
export async function selectPaths(
  orm: Orm,
  before: number,
  paths: readonly (readonly LeafRange[])[],
): Promise<(string[] | null)[]> {
  // reads each hash once, because proofs of one tree share most of their hashes
  const nodes = new Map(
    paths
      .flat()
      .flatMap(nodesOf)
      .map((node) => [nameOf(node), node]),
  );
  const found = await selectSubtrees(orm, before, [...nodes.values()]);
  const hashes = new Map([...nodes.keys()].map((name, at) => [name, found[at] ?? null]));
  return paths.map((ranges) => {
    const path = ranges.map((range) => {
      const parts = nodesOf(range).map((node) => hashes.get(nameOf(node)) ?? null);
      const known = parts.filter((hash) => hash !== null);
      return known.length < parts.length ? null : hexOf(foldedHash(known));
    });
    const known = path.filter((hash) => hash !== null);
    return known.length < path.length ? null : known;
  });
}

const nameOf = ({ level, index }: TreeNode) => `${level}/${index}`;

export async function selectLeaf(orm: Orm, number: number): Promise<LeafRow | null> {
  const [found] = await selectLeaves(orm, sql`number = ${bigint(number)}`);
  return found ?? null;
}

export function selectLeafRange(orm: Orm, first: number, last: number): Promise<LeafRow[]> {
  return selectLeaves(orm, sql`number between ${bigint(first)} and ${bigint(last)}`);
}

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
  return path ?? null;
}
