import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { NodeWrite } from "../heads/head-map.ts";
import type { LeafRow } from "../root/tree-sql.ts";
import type { AlteredChain } from "./altered-chains.ts";
import type { SealedEntry } from "./append-to-chains.ts";
import type { ChainEnd } from "./chain-sql.ts";
import type { NewEntry } from "./entries.ts";
import type { TreeStart } from "./state-sql.ts";

/** An entry that no event wrote; the table has a column for each field. The salt is in hexadecimal. */
interface DeclarationRow {
  declared_at: string;
  kind: "retention" | "restart";
  month: string | null;
  content: object;
  salt: string;
}

/** A leaf to add to the tree, with the nodes that it adds to the map of heads. */
export interface LeafWrite extends LeafRow {
  /** The hash of the leaf, and of each complete subtree that ends with it, in base64. */
  hashes: string;
  nodes: readonly NodeWrite[];
}

export interface PassWrite {
  holder: string | null;
  sealed_to: string;
  entries?: readonly SealedEntry<NewEntry["row"]>[];
  declarations?: readonly SealedEntry<DeclarationRow>[];
  heads?: readonly ChainEnd[];
  /** Null if the pass changes no head. */
  leaf: LeafWrite | null;
  /** The tree that the pass begins. */
  begins?: TreeStart | null;
  /** Chains that are left out from now on. */
  altered?: readonly AlteredChain[];
  /** Left-out owners whose chains are sealed again. */
  matchingAgain?: readonly string[];
}

/**
 * Writes a pass unless another pass was written after `passes` was read. Returns whether this pass was written. One
 * statement writes everything, so a sealer that dies or hangs has written all or nothing, and holds no lock.
 */
export async function writePass(orm: Orm, passes: number, pass: PassWrite): Promise<boolean> {
  const written = await rows(
    orm,
    sql`with turned as (
        update audit.sealer set passes = passes + 1, holder = ${pass.holder}, passed_at = clock_timestamp(),
          sealed_to = ${pass.sealed_to}::text::pg_snapshot
        where passes = ${passes} returning passes
      ),
      ${leafParts(pass)},
      ${entryParts(pass)},
      ${chainParts(pass)}
      select passes from turned`,
  );
  return written.length > 0;
}

/**
 * Locks entries and declarations, so that a transaction may change those of earlier passes. Returns false if another
 * pass was written after `passes` was read.
 */
export async function lockPasses(tx: Orm, passes: number): Promise<boolean> {
  // a pass that waits for the sealer's row already holds its locks on these tables
  await rows(tx, sql`lock table audit.entries, audit.declarations in share row exclusive mode`);
  const current = await rows(tx, sql`select 1 from audit.sealer where passes = ${passes} for update`);
  return current.length > 0;
}

/** Returns the common table expressions that write the leaf, and its nodes of the map of heads. */
function leafParts({ leaf, begins }: PassWrite): SQL {
  const { nodes = [], ...row } = leaf ?? {};
  return sql`begun as (
      insert into audit.trees (before, origin, started_at)
      select before, origin, started_at from turned, json_to_record(${JSON.stringify(begins ?? {})}::text::json)
        as given(before bigint, origin text, started_at timestamptz) where before is not null
    ),
    added as (
      insert into audit.leaves (number, sealed_at, map, hashes)
      select number, sealed_at, decode(map, 'hex'), decode(hashes, 'base64')
      from turned, json_to_record(${JSON.stringify(row)}::text::json) as given(
        number bigint, sealed_at timestamptz, map text, hashes text)
      where number is not null
    ),
    mapped as (
      insert into audit.head_map (version, path, node)
      select ${leaf?.number ?? 0}::bigint, path, decode(node, 'base64')
      from turned, json_to_recordset(${JSON.stringify(nodes)}::text::json) as given(path text, node text)
    )`;
}

/** Returns the common table expressions that write entries and declarations. */
function entryParts({ entries = [], declarations = [] }: PassWrite): SQL {
  const entered = sql`entered as (
      insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain)
      select chain_id, position, occurred_at, event_id, is_outcome, decode(chain, 'hex')
      from turned, json_to_recordset(${JSON.stringify(entries)}::text::json) as given(
        chain_id bigint, position bigint, occurred_at timestamptz, event_id text, is_outcome boolean, chain text)
    )`;
  // the service role has no right to write declarations, so its statements must not name their table
  if (declarations.length === 0) return entered;
  return sql`${entered},
    declared as (
      insert into audit.declarations (chain_id, position, declared_at, kind, month, content, chain, salt)
      select chain_id, position, declared_at, kind, month, content, decode(chain, 'hex'), decode(salt, 'hex')
      from turned, json_to_recordset(${JSON.stringify(declarations)}::text::json) as given(chain_id bigint,
        position bigint, declared_at timestamptz, kind text, month text, content json, chain text, salt text)
    )`;
}

/** Returns the common table expressions that leave chains out, take them back, and update heads. */
function chainParts({ altered = [], matchingAgain = [], heads = [], leaf }: PassWrite): SQL {
  return sql`left_out as (
      insert into audit.altered_chains (owner, reason)
      select owner, reason
      from turned, json_to_recordset(${JSON.stringify(altered)}::text::json) as given(owner text, reason text)
      on conflict do nothing
    ),
    taken_back as (
      delete from audit.altered_chains using turned
      where owner in (select json_array_elements_text(${JSON.stringify(matchingAgain)}::text::json))
    ),
    moved as (
      insert into audit.chains (id, owner, position, chain, leaf)
      select id, owner, position, decode(chain, 'hex'), ${leaf?.number ?? 0}::bigint
      from turned, json_to_recordset(${JSON.stringify(heads)}::text::json) as given(
        id bigint, owner text, position bigint, chain text)
      on conflict (owner) do update set position = excluded.position, chain = excluded.chain, leaf = excluded.leaf
    )`;
}
