import type { Checkpoint, Retention } from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { TreeWrite } from "../checkpoint-tree/tree.ts";
import type { NodeWrite } from "../head-map/head-map.ts";
import type { AlteredChain } from "./altered-sql.ts";

export interface EntryWrite {
  chain_id: number;
  position: number;
  occurred_at: string;
  event_id: string;
  is_outcome: boolean;
  /** The running hash, in hexadecimal like the salt. */
  chain: string;
  salt: string | null;
}

/** A declaration at its position; the table has a column for each field. */
interface RetentionWrite extends Retention {
  chain_id: number;
  position: number;
  /** The running hash, in hexadecimal like the salt. */
  chain: string;
  salt: string;
}

export interface HeadWrite {
  id: number;
  owner: string;
  position: number;
  chain: string;
}

/** Everything that one pass writes. */
export interface PassWrite {
  holder: string;
  sealed_to: string;
  /** Signature of `sealed_to`. Undefined keeps the stored signature. */
  marks?: string | null;
  /** The snapshot that was sealed before this pass, if it is older than `sealed_to`. */
  sealed_before?: string;
  entries: readonly EntryWrite[];
  retentions?: readonly RetentionWrite[];
  heads: readonly HeadWrite[];
  /** The nodes that the checkpoint adds to the map of heads. */
  nodes: readonly NodeWrite[];
  /** The checkpoint that the pass makes, or null if the pass changes no head. */
  checkpoint: Checkpoint | null;
  /** The new leaves of the tree of checkpoints. */
  tree: TreeWrite;
  /** Chains that get no further entries. */
  altered?: readonly AlteredChain[];
  /** Owners whose chains are sealed again. */
  restored?: readonly string[];
}

/**
 * Writes a pass unless another pass was written after `passes` was read. Returns whether this pass was written. One
 * statement writes everything, so a sealer that dies or hangs has written all or nothing, and holds no lock.
 */
export async function writePass(database: Database, passes: number, pass: PassWrite): Promise<boolean> {
  const written = await query(database, "write_pass")`
    with ${turned(passes, pass)},
    ${checkpointParts(pass)},
    ${entryParts(pass)},
    ${chainParts(pass)}
    select passes from turned`;
  return written.length > 0;
}

/**
 * Returns the common table expression `turned`, which updates the sealer's row. `turned` has no row if another pass
 * was written first. All other common table expressions select from `turned`, so they then write nothing.
 */
function turned(passes: number, { holder, sealed_to, sealed_before, marks, tree: { note } }: PassWrite): SQL {
  return sql`turned as (
      update audit.sealer set passes = passes + 1, holder = ${holder}, passed_at = clock_timestamp(),
        sealed_to = ${sealed_to}::text::pg_snapshot
        ${marks === undefined ? sql`` : sql`, marks = ${marks}::text`}
        ${note === undefined ? sql`` : sql`, note = ${note}::text`}
      where passes = ${passes} returning passes, ${sealed_before ?? sealed_to}::text as sealed_before
    )`;
}

/**
 * Returns the common table expressions that write the checkpoint, its nodes of the map of heads, and new
 * leaves of the tree of checkpoints.
 */
function checkpointParts({ checkpoint, nodes, tree }: PassWrite): SQL {
  return sql`sealed as (
      insert into audit.checkpoints (number, sealed_at, previous, map, jws)
      select number, sealed_at, decode(previous, 'hex'), decode(map, 'hex'), jws
      from turned, json_to_record(${JSON.stringify(checkpoint ?? {})}::text::json) as given(
        number bigint, sealed_at timestamptz, previous text, map text, jws text)
      where number is not null
    ),
    mapped as (
      insert into audit.head_map (checkpoint, path, node)
      select ${checkpoint?.number ?? 0}::bigint, path, decode(node, 'base64')
      from turned, json_to_recordset(${JSON.stringify(nodes)}::text::json) as given(path text, node text)
    ),
    grown as (
      insert into audit.checkpoint_tree (number, hashes)
      select number, decode(hashes, 'base64')
      from turned, json_to_recordset(${JSON.stringify(tree.leaves)}::text::json) as given(
        number bigint, hashes text)
    )`;
}

/** Returns the common table expressions that write entries, and declarations of retention. */
function entryParts({ entries, retentions = [] }: PassWrite): SQL {
  const entered = sql`entered as (
      insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain, salt)
      select chain_id, position, occurred_at, event_id, is_outcome, decode(chain, 'hex'), decode(salt, 'hex')
      from turned, json_to_recordset(${JSON.stringify(entries)}::text::json) as given(
        chain_id bigint, position bigint, occurred_at timestamptz, event_id text, is_outcome boolean,
        chain text, salt text)
    )`;
  // the service role has no right to write declarations, so its statements must not name their table
  if (retentions.length === 0) return entered;
  return sql`${entered},
    declared as (
      insert into audit.retentions (chain_id, position, month, declared_at, ranges, chain, salt)
      select chain_id, position, month, declared_at, ranges, decode(chain, 'hex'), decode(salt, 'hex')
      from turned, json_to_recordset(${JSON.stringify(retentions)}::text::json) as given(
        chain_id bigint, position bigint, month text, declared_at timestamptz, ranges json, chain text, salt text)
    )`;
}

/** Returns the common table expressions that set altered chains aside, restore chains, and update heads. */
function chainParts({ altered = [], restored = [], heads, checkpoint }: PassWrite): SQL {
  return sql`set_aside as (
      insert into audit.altered_chains (owner, reason, position, chain, sealed_to)
      select owner, reason, position, decode(chain, 'hex'), turned.sealed_before::pg_snapshot
      from turned, json_to_recordset(${JSON.stringify(altered)}::text::json) as given(
        owner text, reason text, position bigint, chain text)
    ),
    restored as (
      delete from audit.altered_chains using turned
      where owner in (select json_array_elements_text(${JSON.stringify(restored)}::text::json))
    ),
    moved as (
      insert into audit.chains (id, owner, position, chain, checkpoint, inclusion)
      select id, owner, position, decode(chain, 'hex'), ${checkpoint?.number ?? 0}::bigint, null
      from turned, json_to_recordset(${JSON.stringify(heads)}::text::json) as given(
        id bigint, owner text, position bigint, chain text)
      on conflict (owner) do update set position = excluded.position, chain = excluded.chain,
        checkpoint = excluded.checkpoint, inclusion = excluded.inclusion
    )`;
}
