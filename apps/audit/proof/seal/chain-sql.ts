import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** The chain of an owner as stored. A new chain already has an id, but no entry. */
export interface ChainRow {
  owner: string;
  id: number;
  position: number;
  /** The running hash in hexadecimal, or null for a new chain. */
  chain: string | null;
  /** Whether the chain has entries after `position`. */
  goes_on: boolean;
}

export function selectChains(orm: Orm, owners: readonly string[]): Promise<ChainRow[]> {
  return rows<ChainRow>(
    orm,
    sql`select wanted.owner, coalesce(known.id, nextval('audit.chain_ids')) as id,
        coalesce(known.position, 0) as position, encode(known.chain, 'hex') as chain,
        exists (select from audit.entries entry
          where entry.chain_id = known.id and entry.position > known.position) as goes_on
      from json_array_elements_text(${JSON.stringify(owners)}::text::json) as wanted(owner)
        left join audit.chains known using (owner)`,
  );
}

type MovedChain = Omit<ChainRow, "chain" | "goes_on"> & { chain: string };

/** Returns the chains that a leaf moved last. */
export function selectMoved(orm: Orm, leaf: number): Promise<MovedChain[]> {
  return rows<MovedChain>(
    orm,
    sql`select id, owner, position, encode(chain, 'hex') as chain from audit.chains
      where leaf = ${String(leaf)}::text::bigint`,
  );
}
