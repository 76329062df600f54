import { PROOF_FORMAT, type ProofEnd } from "@ostiary/lib/contracts/audit";
import { MONTH_MARGIN_MS } from "@ostiary/lib/domain/proof";
import { consistencyRanges, inclusionRanges, type NoteKey } from "@ostiary/lib/domain/tlog";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";
import { rootOf } from "../heads/head-map.ts";
import { selectProvenHeads } from "../heads/proofs.ts";
import { signersOf } from "../root/signing-keys.ts";
import { leafOf, selectLeaves, selectPaths, sizeOf } from "../root/tree-sql.ts";
import type { SignedRoot } from "../witnesses/witness-sql.ts";
import type { SealedLog } from "./proof-sql.ts";
import { type HeadWithoutPath, selectRemainders } from "./remainders-sql.ts";

export interface ProofEndParts {
  /** The size of an earlier tree that the reader asked for, or null. */
  asked: number | null;
  /** The newest root that witnesses cosigned, or null. */
  cosigned: SignedRoot | null;
  keys: readonly NoteKey[];
  /** The time of the earliest event that the export shows, or null without events. */
  from: string | null;
}

export async function selectProofEnd(
  tx: Orm,
  sealed: SealedLog,
  { asked, cosigned, keys, from }: ProofEndParts,
): Promise<ProofEnd> {
  const { owner, position, chain, map, note } = sealed;
  const heads = await selectEarlierHeads(tx, sealed, asked);
  const retention = await selectRemainders(tx, sealed, heads, from);
  const proved = await withPaths(tx, sealed, heads, { asked, cosigned });
  return {
    format: PROOF_FORMAT,
    head: { owner, position, chain },
    map,
    leaf: sealed.leaf === null ? null : leafOf(sealed.leaf, sealed.before),
    note,
    ...proved,
    ...(retention.length > 0 && { retention }),
    keys: await signersOf(note, keys),
  };
}

/**
 * Returns the owner's heads under earlier leaves of the tree: the last leaf of each UTC day since shortly before
 * the first entry, and the last leaf of the tree of size `asked`.
 */
async function selectEarlierHeads(
  tx: Orm,
  { owner, chain_id, before, leaf }: SealedLog,
  asked: number | null,
): Promise<HeadWithoutPath[]> {
  // an event's time may be after the time at which it was sealed
  const margin = sql`make_interval(secs => ${MONTH_MARGIN_MS / 1_000})`;
  const found = await selectLeaves(
    tx,
    sql`number > ${bigint(before)} and number < ${bigint(Number(leaf?.number ?? 0))} and number in (
      select (select number from audit.leaves of_day
          where of_day.sealed_at >= day at time zone 'UTC'
            and of_day.sealed_at < (day + interval '1 day') at time zone 'UTC'
          order by of_day.sealed_at desc, number desc limit 1)
        from (select occurred_at from audit.entries where chain_id = ${chain_id ?? 0}::bigint
            order by position limit 1) entry,
          generate_series(date_trunc('day', (entry.occurred_at - ${margin}) at time zone 'UTC'),
            now() at time zone 'UTC', interval '1 day') day
      union
      select ${bigint(before + (asked ?? 0))})`,
  );
  const heads = await selectProvenHeads(tx, owner, found.map(rootOf));
  return found.map((row, index) => {
    const head = heads[index] ?? null;
    if (head === null)
      throw new Error(`The map of leaf ${row.number} has lost nodes on the path to ${owner}.`);
    return { leaf: leafOf(row, before), ...head };
  });
}

/** Returns the parts of the last line that prove leaves and trees in the tree of the note. */
async function withPaths(
  tx: Orm,
  { before, note }: SealedLog,
  heads: readonly HeadWithoutPath[],
  { asked, cosigned }: Pick<ProofEndParts, "asked" | "cosigned">,
): Promise<Pick<ProofEnd, "path" | "heads" | "cosigned">> {
  if (note === null) return { path: [], heads: heads.map((head) => ({ ...head, path: [] })) };
  const size = sizeOf(note);
  const other = cosigned?.size ?? size;
  const found = await selectPaths(tx, before, [
    inclusionRanges(size - 1, size),
    [{ from: 0, to: asked ?? 0 }],
    consistencyRanges(asked ?? 0, size),
    consistencyRanges(Math.min(size, other), Math.max(size, other)),
    ...heads.map(({ leaf }) => inclusionRanges(leaf.number, size)),
  ]);
  if (found.includes(null)) throw new Error("The tree has lost hashes.");
  const [path, root, consistency, linked, ...paths] = found;
  return {
    path: path ?? [],
    heads: heads.map((head, index) => ({
      ...head,
      path: paths[index] ?? [],
      ...(head.leaf.number + 1 === asked && {
        tree: { root: root?.[0] ?? "", consistency: consistency ?? [] },
      }),
    })),
    ...(cosigned !== null && { cosigned: { note: cosigned.note, consistency: linked ?? [] } }),
  };
}
