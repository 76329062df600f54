import type { Checkpoint } from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { CHECKPOINT_COLUMNS, type CheckpointRow, checkpointOf } from "../published-checkpoints/sql.ts";
import { SET_ASIDE, type SetAside } from "./altered-sql.ts";

/** The state that the sealers of all replicas share. */
export interface SealerState {
  /** Number of passes that wrote something. */
  passes: number;
  holder: string | null;
  /** The time since the last pass, of any replica, that wrote something. */
  idle_ms: number;
  /** A `pg_snapshot`. All events that are visible in the snapshot have entries. */
  sealed_to: string;
  /** The newest checkpoint, or null before the first. */
  checkpoint: Checkpoint | null;
  now: string;
  /** Chains that are not sealed any further. */
  set_aside: readonly SetAside[];
  /** A JWS of `sealed_to`, or null while no key signs them. */
  marks: string | null;
  /** Whether the marks were ever signed. */
  marks_signed: boolean;
  /** The number of leaves of the tree of checkpoints. */
  tree_size: number;
  /** The signed root of the tree, as a note; null while no key signs it. */
  note: string | null;
  /** Whether a chain that is not set aside has its head only in an older checkpoint, not in the map of heads. */
  has_unmapped: boolean;
}

type StateRow = Omit<SealerState, "checkpoint"> & {
  checkpoint: CheckpointRow | null;
};

/** Selects the chains that are not in the map of heads yet. */
const unmapped = sql`select known.owner from audit.chains known where known.inclusion is not null
  and not exists (select from audit.altered_chains aside where aside.owner = known.owner)`;

/** Returns at most `limit` owners whose chains are not in the map of heads yet. */
export async function selectUnmapped(database: Database, limit: number): Promise<string[]> {
  const found = await query<{ owner: string }>(database, "select_unmapped")`
    ${unmapped} order by known.id limit ${sql.raw(String(limit))}`;
  return found.map(({ owner }) => owner);
}

/** Returns the state of the sealer. */
export async function selectState(database: Database): Promise<SealerState> {
  const [found] = await query<StateRow>(database, "select_sealer")`
    select passes, holder, sealed_to::text, pg_current_snapshot()::text as now,
        (extract(epoch from clock_timestamp() - passed_at) * 1000)::float8 as idle_ms,
        marks, marks_signed, note, ${SET_ASIDE} as set_aside,
        coalesce((select max(number) from audit.checkpoint_tree), 0) as tree_size,
        exists (${unmapped}) as has_unmapped,
        (select row_to_json(newest) from (
          select ${CHECKPOINT_COLUMNS} from audit.checkpoints order by number desc limit 1) newest) as checkpoint
      from audit.sealer`;
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  const { checkpoint, ...state } = found;
  return {
    ...state,
    checkpoint: checkpoint === null ? null : checkpointOf(checkpoint),
  };
}
