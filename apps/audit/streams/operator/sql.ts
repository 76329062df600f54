import { type Database, query, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { BATCH_ENTRIES_MAX, type ChainPlace } from "../batch.ts";
import { bigint, type FoundEntry, selectEntries, withOtherEntries } from "../delivery-sql.ts";
import { failed, isClaimable, leaseEnd, OPERATOR_STREAM, pauseFor } from "../lease-sql.ts";
import type { FailureState, RetryPlan } from "../retry.ts";
import type { OrganizationPart } from "./batch.ts";

/**
 * The position up to which the stream has delivered. Chains are delivered in the order of the leaves that contain
 * their heads, and then in the order of their ids. The cursor names the last delivered chain.
 */
export interface Cursor {
  leaf: number;
  chain_id: number;
}

/** Where the stream begins when it is set up for the first time. */
export type Beginning = "now" | "start";

/**
 * Creates the stream if there is none, or changes its receiver. A new receiver is called at once, and the stream
 * continues from its cursor.
 */
export async function openOperatorStream(database: Database, url: string, from: Beginning): Promise<void> {
  await database.transaction("open_operator_stream", async (tx) => {
    const isNow = from === "now";
    const created = await rows(
      tx,
      sql`insert into audit.operator_stream (url, leaf, chain_id, pause_ms)
        select ${url}, case when ${isNow}::boolean then coalesce((select max(number) from audit.leaves), 0) else 0 end, 0, 0
        on conflict do nothing returning url`,
    );
    if (created.length > 0 && isNow) {
      await rows(
        tx,
        sql`insert into audit.operator_stream_places (chain_id, position, chain)
          select id, position, chain from audit.chains where owner like 'organization:%'`,
      );
    }
    await rows(
      tx,
      sql`update audit.operator_stream set url = ${url}, failures = 0, failing_ms = 0, failing_since = null,
          last_error = null, ${pauseFor(0)} where url <> ${url}`,
    );
  });
}

export type OperatorRow = Cursor & FailureState & { id: string };

/** Claims the lease if a chain has new entries and no other replica delivers. Returns an empty list otherwise. */
export async function claimOperatorStream(database: Database, lease: string): Promise<OperatorRow[]> {
  const found = await query<Cursor & FailureState>(database, "claim_operator_stream")`
    update audit.operator_stream stream set lease = ${lease}, lease_until = ${leaseEnd}
      where ${isClaimable}
        and exists (select from audit.chains chain where chain.leaf >= stream.leaf
          and (chain.leaf > stream.leaf or chain.id > stream.chain_id))
      returning leaf, chain_id, failures, failing_ms`;
  return found.map((row) => ({ id: OPERATOR_STREAM, ...row }));
}

/** A chain with new entries, and the position up to which it is delivered. */
interface MovedChain extends Cursor {
  owner: string;
  head: number;
  position: number;
  chain: string;
}

/** The next entries, and the cursor of the stream once they are delivered. */
export interface NextParts {
  /** Empty if no organization has a new entry. */
  parts: OrganizationPart[];
  /** The cursors after the chains whose new entries are all in `parts`, by chain id. */
  behind: Map<number, Cursor>;
  /** The cursor after everything that was read. Null if no chain has new entries. */
  end: Cursor | null;
  /** Organizations whose next entry is missing from the log. */
  stuck: string[];
}

const ORGANIZATION = "organization:";

/** Reads the next entries, at most 100, from the chains with new entries, in the order of the cursor. */
export async function selectNextParts(database: Database, cursor: Cursor): Promise<NextParts> {
  const wanted = firstEntries(await selectMoved(database, cursor));
  const found = await selectEntriesOf(database, wanted);
  const lastFound = found.at(-1);
  const cut = lastFound?.isCut ? wanted.findIndex(({ chain_id }) => chain_id === lastFound.chain_id) : null;
  const result: NextParts = { parts: [], behind: new Map(), end: null, stuck: [] };
  for (const [index, chain] of wanted.entries()) {
    if (cut !== null && index > cut) break;
    const { chain_id, leaf, position, end, head } = chain;
    const own = found.filter((entry) => entry.chain_id === chain_id);
    const entries = await withOtherEntries(database, chain, own, end);
    const reached = entries.at(-1)?.position ?? position;
    const organization_id = chain.owner.slice(ORGANIZATION.length);
    const after = { position, chain: chain.chain };
    if (entries.length > 0) result.parts.push({ organization_id, chain_id, after, entries });
    if (reached < end && index !== cut) result.stuck.push(organization_id);
    else if (reached < head) break;
    result.behind.set(chain_id, { leaf, chain_id });
    result.end = { leaf, chain_id };
  }
  return result;
}

function selectMoved(database: Database, { leaf, chain_id }: Cursor): Promise<MovedChain[]> {
  return query<MovedChain>(database, "select_moved_chains")`
    select chain.id as chain_id, chain.owner, chain.leaf, chain.position as head,
        coalesce(place.position, case when chain.owner like 'organization:%' then 0 else chain.position end) as position,
        coalesce(encode(place.chain, 'hex'), repeat('00', 32)) as chain
      from audit.chains chain left join audit.operator_stream_places place on place.chain_id = chain.id
      where chain.leaf >= ${bigint(leaf)}
        and (chain.leaf > ${bigint(leaf)} or chain.id > ${bigint(chain_id)})
      order by chain.leaf, chain.id limit ${sql.raw(String(BATCH_ENTRIES_MAX))}`;
}

type WantedChain = MovedChain & {
  /** The position up to which this batch reads entries. */
  end: number;
};

/** Selects chains until their new entries fill a batch. */
function firstEntries(moved: readonly MovedChain[]): WantedChain[] {
  const wanted: WantedChain[] = [];
  let left = BATCH_ENTRIES_MAX;
  for (const chain of moved) {
    if (left === 0) break;
    const end = Math.max(chain.position, Math.min(chain.head, chain.position + left));
    left -= end - chain.position;
    wanted.push({ ...chain, end });
  }
  return wanted;
}

function selectEntriesOf(database: Database, wanted: readonly WantedChain[]): Promise<FoundEntry[]> {
  const ranges = wanted.map(({ chain_id, position, end }, turn) => ({
    turn,
    chain_id,
    position,
    end_at: end,
  }));
  const source = sql`select asked.turn, stored.*
    from json_to_recordset(${JSON.stringify(ranges)}::text::json)
      as asked(turn integer, chain_id bigint, position bigint, end_at bigint)
    cross join lateral (select * from audit.entries entry where entry.chain_id = asked.chain_id
      and entry.position > asked.position and entry.position <= asked.end_at) stored`;
  return selectEntries(database, source, sql`true`);
}

/**
 * Stores the stream's new cursor and the places up to which chains are delivered, and renews the stream's lease. If
 * `isDelivered`, resets the count of failures. Returns false, and writes nothing, if the lease was lost.
 */
export async function advanceOperatorStream(
  database: Database,
  lease: string,
  { leaf, chain_id }: Cursor,
  places: readonly (ChainPlace & { chain_id: number })[],
  isDelivered: boolean,
): Promise<boolean> {
  const healed = isDelivered
    ? sql`, failures = 0, failing_ms = 0, failing_since = null, last_error = null`
    : sql``;
  const found = await query(database, "advance_operator_stream")`
    with moved as (
        update audit.operator_stream set leaf = ${bigint(leaf)}, chain_id = ${bigint(chain_id)},
          lease_until = ${leaseEnd} ${healed}
        where lease = ${lease} returning lease
      ), placed as (
        insert into audit.operator_stream_places (chain_id, position, chain)
        select given.chain_id, given.position, decode(given.chain, 'hex')
        from moved, json_to_recordset(${JSON.stringify(places)}::text::json)
          as given(chain_id bigint, position bigint, chain text)
        on conflict (chain_id) do update set position = excluded.position, chain = excluded.chain
      )
      select lease from moved`;
  return found.length > 0;
}

/** Records a delivery request that failed, and releases the lease. */
export async function failOperatorStream(
  database: Database,
  lease: string,
  error: string,
  plan: RetryPlan,
): Promise<void> {
  await query(database, "fail_operator_stream")`
    update audit.operator_stream set ${failed(error, plan)} where lease = ${lease}`;
}

/** The backlog and the failures of the stream, for the metrics. */
export interface OperatorReading {
  /** The age of the oldest leaf with entries that the stream has not delivered; 0 if there is none. */
  lag_s: number;
  /** The number of consecutive delivery requests that failed. */
  failures: number;
}

export async function selectOperatorReading(database: Database): Promise<OperatorReading | null> {
  const [found] = await query<OperatorReading>(database, "select_operator_stream")`
    select stream.failures, case when exists (select from audit.chains chain
          where chain.leaf >= stream.leaf
            and (chain.leaf > stream.leaf or chain.id > stream.chain_id))
        then greatest(extract(epoch from clock_timestamp() - (
          select sealed_at from audit.leaves where number >= stream.leaf
            and (number > stream.leaf or exists (select from audit.chains chain
              where chain.leaf = stream.leaf and chain.id > stream.chain_id))
          order by number limit 1)), 0)
        else 0 end::float8 as lag_s
      from audit.operator_stream stream`;
  return found ?? null;
}
