import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";
import { BATCH_ENTRIES_MAX, OPERATOR_STREAM, type Part } from "../batch.ts";
import { selectEntries, selectGivenUp, unbroken } from "../delivery-sql.ts";
import type { ChainPosition } from "../entry.ts";
import { failed, HEALED, isClaimable, leaseEnd, pauseFor } from "../lease-sql.ts";
import type { FailureState, RetryPlan } from "../retry.ts";

/**
 * The position up to which the stream has delivered. Chains are delivered in the order of the leaves that contain
 * their heads, and then in the order of their ids. The position names the last delivered chain.
 */
export interface StreamPosition {
  leaf: number;
  chain_id: number;
}

/** Where the stream begins when it is set up for the first time. */
export type Beginning = "now" | "start";

/**
 * Creates the stream if there is none, or changes its receiver. A new receiver is called at once, and the stream
 * continues from its position.
 */
export async function openOperatorStream(tx: Orm, url: string, from: Beginning): Promise<void> {
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
      sql`insert into audit.operator_stream_positions (chain_id, position, chain)
        select id, position, chain from audit.chains where owner like 'organization:%'`,
    );
  }
  await rows(
    tx,
    sql`update audit.operator_stream set url = ${url}, ${HEALED}, ${pauseFor(0)} where url <> ${url}`,
  );
}

export interface OperatorRow extends StreamPosition, FailureState {
  id: string;
}

/** Claims the lease if a chain has new entries and no other replica delivers. Returns an empty list otherwise. */
export function claimOperatorStream(database: Database, lease: string): Promise<OperatorRow[]> {
  return query<OperatorRow>(database, "claim_operator_stream")`
    update audit.operator_stream stream set lease = ${lease}, lease_until = ${leaseEnd}
      where ${isClaimable}
        and exists (select from audit.chains chain where chain.leaf >= stream.leaf
          and (chain.leaf > stream.leaf or chain.id > stream.chain_id))
      returning ${OPERATOR_STREAM}::text as id, leaf, chain_id, failures, failing_ms`;
}

/** A chain with new entries, and the position up to which it is delivered. */
interface MovedChain extends StreamPosition, ChainPosition {
  owner: string;
  head: number;
}

/** The next entries of a chain, and the position of the stream once they are delivered. */
export interface ChainPart extends Part, StreamPosition {
  /** Whether `entries` are all new entries of the chain that can be delivered. */
  isWhole: boolean;
  /** Whether the next entry is missing from the log. */
  isStuck: boolean;
}

const ORGANIZATION = "organization:";

/** Reads the next entries, at most 100, from the chains with new entries, in the order of their positions. */
export async function selectNextParts(database: Database, position: StreamPosition): Promise<ChainPart[]> {
  let moved = await selectMoved(database, position);
  const continued = new Set<number>();
  for (;;) {
    const parts = await selectParts(database, moved);
    const stuck = parts.filter(({ isStuck, chain_id }) => isStuck && !continued.has(chain_id));
    const ends = await selectGivenUpEnds(database, stuck);
    if (ends.size === 0) {
      return parts.map((part) =>
        continued.has(part.chain_id) && part.isStuck ? { ...part, isStuck: false, isWhole: false } : part,
      );
    }
    for (const chain_id of ends.keys()) continued.add(chain_id);
    // entries before those that were given up go first: the restart then begins a later call
    const begun = new Set(stuck.flatMap(({ chain_id, entries }) => (entries.length > 0 ? [chain_id] : [])));
    moved = moved.map((chain) =>
      begun.has(chain.chain_id) ? chain : { ...chain, ...ends.get(chain.chain_id) },
    );
  }
}

/** Returns the sealed ends that restarts continue, by chain, for the parts whose next entry a restart gave up. */
async function selectGivenUpEnds(
  database: Database,
  parts: readonly ChainPart[],
): Promise<Map<number, ChainPosition>> {
  const ends = new Map<number, ChainPosition>();
  for (const { chain_id, after, entries } of parts) {
    const missing = (entries.at(-1) ?? after).position + 1;
    const end = await database.run("select_given_up", (orm) => selectGivenUp(orm, chain_id, missing));
    if (end !== null) ends.set(chain_id, end);
  }
  return ends;
}

async function selectParts(database: Database, moved: readonly MovedChain[]): Promise<ChainPart[]> {
  const wanted = firstEntries(moved);
  const { entries: found, isCut } = await selectEntries(database, wanted);
  const cut = isCut ? wanted.findIndex(({ chain_id }) => chain_id === found.at(-1)?.chain_id) : null;
  return wanted.slice(0, cut === null ? undefined : cut + 1).map((chain, index) => {
    const { chain_id, leaf, position, end, head } = chain;
    const own = found.filter((entry) => entry.chain_id === chain_id);
    const entries = unbroken(own, position);
    const reached = entries.at(-1)?.position ?? position;
    const isStuck = reached < end && index !== cut;
    const organization_id = chain.owner.slice(ORGANIZATION.length);
    const after = { position, chain: chain.chain };
    return { organization_id, chain_id, leaf, after, entries, isStuck, isWhole: isStuck || reached >= head };
  });
}

function selectMoved(database: Database, { leaf, chain_id }: StreamPosition): Promise<MovedChain[]> {
  return query<MovedChain>(database, "select_moved_chains")`
    select chain.id as chain_id, chain.owner, chain.leaf, chain.position as head,
        coalesce(delivered.position, case when chain.owner like 'organization:%' then 0 else chain.position end) as position,
        coalesce(encode(delivered.chain, 'hex'), repeat('00', 32)) as chain
      from audit.chains chain left join audit.operator_stream_positions delivered on delivered.chain_id = chain.id
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

/**
 * Stores the stream's new position and the positions up to which chains are delivered, and renews the stream's lease.
 * If `isDelivered`, resets the count of failures. Returns false, and writes nothing, if the lease was lost.
 */
export async function advanceOperatorStream(
  database: Database,
  lease: string,
  { leaf, chain_id }: StreamPosition,
  positions: readonly (ChainPosition & { chain_id: number })[],
  isDelivered: boolean,
): Promise<boolean> {
  const healed = isDelivered ? sql`, ${HEALED}` : sql``;
  const found = await query(database, "advance_operator_stream")`
    with moved as (
        update audit.operator_stream set leaf = ${bigint(leaf)}, chain_id = ${bigint(chain_id)},
          lease_until = ${leaseEnd} ${healed}
        where lease = ${lease} returning lease
      ), stored as (
        insert into audit.operator_stream_positions (chain_id, position, chain)
        select given.chain_id, given.position, decode(given.chain, 'hex')
        from moved, json_to_recordset(${JSON.stringify(positions)}::text::json)
          as given(chain_id bigint, position bigint, chain text)
        on conflict (chain_id) do update set position = excluded.position, chain = excluded.chain
      )
      select lease from moved`;
  return found.length > 0;
}

/**
 * Records a delivery request that failed, and releases the lease. Returns false, and writes nothing, if the lease was
 * lost, or if the stream has another URL by now, whose receiver refused nothing.
 */
export async function failOperatorStream(
  database: Database,
  { lease, url }: { lease: string; url: string },
  error: string,
  plan: RetryPlan,
): Promise<boolean> {
  const found = await query(database, "fail_operator_stream")`
    update audit.operator_stream set ${failed(error, plan)} where lease = ${lease} and url = ${url} returning lease`;
  return found.length > 0;
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
