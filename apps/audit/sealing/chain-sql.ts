import type { Inclusion } from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { CHECKPOINT_COLUMNS, type CheckpointRow } from "../published-checkpoints/sql.ts";

/** The chain of an owner as stored. A new chain already has an id, but no entry. */
export interface ChainRow {
  owner: string;
  id: number;
  position: number;
  /** The running hash in hexadecimal, or null for a new chain. */
  chain: string | null;
  /** The inclusion proof of a head in the tree of an older checkpoint; null for a head in the map of heads. */
  inclusion: Inclusion | null;
  /** The older checkpoint that `inclusion` refers to. */
  checkpoint: CheckpointRow | null;
  /** Whether the chain has entries after `position`. */
  goes_on: boolean;
}

export function selectChains(database: Database, owners: readonly string[]): Promise<ChainRow[]> {
  return query<ChainRow>(database, "select_chains")`
    select wanted.owner, coalesce(known.id, nextval('audit.chain_ids')) as id,
        coalesce(known.position, 0) as position, encode(known.chain, 'hex') as chain, known.inclusion,
        case when known.inclusion is not null then (select row_to_json(holding) from (
          select ${CHECKPOINT_COLUMNS} from audit.checkpoints where number = known.checkpoint) holding) end as checkpoint,
        exists (select from audit.entries entry
          where entry.chain_id = known.id and entry.position > known.position) as goes_on
      from json_array_elements_text(${JSON.stringify(owners)}::text::json) as wanted(owner)
        left join audit.chains known using (owner)`;
}
