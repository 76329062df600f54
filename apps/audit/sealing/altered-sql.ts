import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** A chain whose stored row differs from the row that was sealed. */
export interface AlteredChain {
  owner: string;
  /** The difference between the stored row and the sealed one, as a part of the sentence of an error message. */
  reason: string;
  /** The position that was sealed last, or null if it is unknown. */
  position: number | null;
  /** The running hash at that position, in hexadecimal. */
  chain: string | null;
}

/** An altered chain, as stored for all replicas. The chain gets no new entries until it is restored or accepted. */
export interface SetAside extends AlteredChain {
  /** Whether an operator accepted the chain's current row, so that sealing continues from it. */
  accepted: boolean;
}

/**
 * Returns the head that an altered chain must have before it is sealed again, or null if any consistent head
 * is accepted.
 */
export function endOf({ position, chain, accepted }: SetAside): { position: number; chain: string } | null {
  return accepted || position === null || chain === null ? null : { position, chain };
}

/** Selects the chains that are set aside (not sealed any further), as a JSON array. */
export const SET_ASIDE = sql`(select coalesce(json_agg(json_build_object('owner', owner, 'reason', reason,
  'position', position, 'chain', encode(chain, 'hex'), 'accepted', accepted) order by owner), '[]')
  from audit.altered_chains)`;

/** The SQL condition that an event cannot be sealed, because the chain of every log with the event is set aside. */
export const IS_SET_ASIDE = sql`(event.organization_id is null
    or exists (select from audit.altered_chains aside where aside.owner = 'organization:' || event.organization_id))
  and (event.user_id is null
    or exists (select from audit.altered_chains aside where aside.owner = 'user:' || event.user_id))`;

/** Returns the hash of a chain at a position, in hexadecimal, or null if the chain has no entry there. */
export function selectChainAt(
  database: Database,
  chain_id: number,
  position: number,
): Promise<string | null> {
  return database.run("select_chain_at", (orm) => chainAt(orm, chain_id, position));
}

/** Works like {@link selectChainAt}, on the connection of `orm`. */
export async function chainAt(orm: Orm, chain_id: number, position: number): Promise<string | null> {
  const at = sql`chain_id = ${String(chain_id)}::text::bigint and position = ${String(position)}::text::bigint`;
  const [found] = await rows<{ chain: string }>(
    orm,
    sql`select encode(chain, 'hex') as chain from audit.entries where ${at}
      union all select encode(chain, 'hex') from audit.retentions where ${at}`,
  );
  return found?.chain ?? null;
}
