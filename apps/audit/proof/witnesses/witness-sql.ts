import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";

/** A signed root of the tree, as a note. */
export interface SignedRoot {
  size: number;
  note: string;
}

/** A cosignature that was verified, of the root as the log signed it. */
export interface Cosignature extends SignedRoot {
  /** The verifier key of the witness. */
  witness: string;
  /** The signature as a line of a note, with its line feed. */
  line: string;
  cosigned_at: Date;
}

/** The maximum number of roots that are kept in addition to the newest root that a quorum cosigned. */
const ROOTS_MAX = 1_000;

/** The SQL condition that a root belongs to the tree of this name: the name is the first line of a root. */
const treeCondition = (origin: string) => sql`starts_with(note, ${origin} || chr(10))`;

/**
 * Returns the newest root that at least `quorum` of these witnesses cosigned, with their lines; null if there is none.
 */
export async function selectCosignedRoot(
  database: Database,
  origin: string,
  witnesses: readonly string[],
  quorum: number,
): Promise<SignedRoot | null> {
  const [found] = await query<{ size: string; note: string; lines: string }>(
    database,
    "select_cosigned_root",
  )`
    select size, note, string_agg(line, '' order by cosigned_at, witness) as lines from audit.cosignatures
      where ${treeCondition(origin)} and witness in (select json_array_elements_text(${JSON.stringify(witnesses)}::text::json))
      group by size, note having count(*) >= ${quorum}
      order by size desc limit 1`;
  return found === undefined ? null : { size: Number(found.size), note: found.note + found.lines };
}

/** Stores a cosignature. If the witness has already cosigned this root, keeps the earlier cosignature. */
export async function insertCosignature(database: Database, cosignature: Cosignature): Promise<void> {
  const { size, note, witness, line, cosigned_at } = cosignature;
  await query(database, "insert_cosignature")`
    insert into audit.cosignatures (size, note, witness, line, cosigned_at)
      values (${bigint(size)}, ${note}, ${witness}, ${line}, ${cosigned_at.toISOString()}::text::timestamptz)
      on conflict do nothing`;
}

/**
 * Deletes cosignatures of other trees, and those of roots smaller than `newest`, the size of the newest root that a
 * quorum cosigned (0 for none). Also limits the roots larger than `newest`: keeps only the {@link ROOTS_MAX} largest.
 */
export async function deleteOldCosignatures(
  database: Database,
  origin: string,
  newest: number,
): Promise<void> {
  await query(database, "delete_old_cosignatures")`
    delete from audit.cosignatures where not ${treeCondition(origin)} or size < ${bigint(newest)} or (
      size <> ${bigint(newest)} and size < (
        select size from audit.cosignatures where ${treeCondition(origin)} group by size order by size desc offset ${ROOTS_MAX - 1} limit 1))`;
}
