import {
  declarationHash,
  HASH_PATTERN,
  type Hash,
  type HexHash,
  hashFromHex,
  hexOf,
  nextInChain,
} from "@ostiary/lib/domain/proof";
import { type Orm, rows, StoreUnavailable, sqlState } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";
import type { MapHead } from "../heads/head-map.ts";
import { entryIn, type StoredRow } from "./entries.ts";
import { storedColumns } from "./unsealed-sql.ts";

/** The end of an owner's chain. */
export interface ChainEnd {
  id: number;
  owner: string;
  position: number;
  chain: HexHash;
}

/** The chain of an owner as stored. A new chain already has an id, but no entry and no running hash. */
export interface ChainRow extends Omit<ChainEnd, "chain"> {
  chain: HexHash | null;
  /** Whether the chain has entries after `position`. */
  has_later_entries: boolean;
}

export function selectChains(orm: Orm, owners: readonly string[]): Promise<ChainRow[]> {
  return rows<ChainRow>(
    orm,
    sql`select wanted.owner, coalesce(known.id, nextval('audit.chain_ids')) as id,
        coalesce(known.position, 0) as position, encode(known.chain, 'hex') as chain,
        exists (select from audit.entries entry
          where entry.chain_id = known.id and entry.position > known.position)
        or exists (select from audit.declarations declared
          where declared.chain_id = known.id and declared.position > known.position) as has_later_entries
      from json_array_elements_text(${JSON.stringify(owners)}::text::json) as wanted(owner)
        left join audit.chains known using (owner)`,
  );
}

/** Returns the ends of the chains that a leaf moved last. */
export function selectMoved(orm: Orm, leaf: number): Promise<ChainEnd[]> {
  return rows<ChainEnd>(
    orm,
    sql`select id, owner, position, encode(chain, 'hex') as chain from audit.chains
      where leaf = ${bigint(leaf)}`,
  );
}

/** Removes the entries of a chain from a position on, so that events that still exist are sealed again. */
export async function forget(tx: Orm, { id, owner }: ChainRow, from: number): Promise<void> {
  for (const name of ["audit.entries", "audit.declarations"].map(sql.raw)) {
    await rows(tx, sql`alter table ${name} disable trigger no_change`);
    await rows(tx, sql`delete from ${name} where chain_id = ${bigint(id)} and position >= ${bigint(from)}`);
    await rows(tx, sql`alter table ${name} enable trigger no_change`);
  }
  await rows(
    tx,
    sql`insert into audit.altered_chains (owner, reason) values (${owner}, 'the chain was restarted')
      on conflict do nothing`,
  );
}

/** Limits a position that a row claims, so that later positions are exact numbers. */
const limited = (position: SQL) => sql`least(coalesce(${position}, 0), ${bigint(2 ** 52)}) as position`;

export function selectEnds(orm: Orm): Promise<ChainEnd[]> {
  return rows(
    orm,
    sql`select id, owner, ${limited(sql`position`)}, encode(chain, 'hex') as chain from audit.chains`,
  );
}

/** Returns the last position of a chain that has an entry or a declaration; 0 for none. */
export async function selectLastPosition(orm: Orm, chain_id: number): Promise<number> {
  const last = (table: SQL) => sql`(select position from ${table}
    where chain_id = ${bigint(chain_id)} order by position desc limit 1)`;
  const [found] = await rows<{ position: number }>(
    orm,
    sql`select ${limited(sql`greatest(${last(sql`audit.entries`)}, ${last(sql`audit.declarations`)})`)}`,
  );
  return found?.position ?? 0;
}

/**
 * Returns the owners without a chain: of stored events, and left-out ones. Each comes with the last position of its
 * events in chains that no row names any more, or 0.
 */
export function selectChainless(orm: Orm): Promise<{ owner: string; position: number }[]> {
  return rows(
    orm,
    sql`select owner, ${limited(sql`max(entry.position)`)}
      from (
        select log.owner, event.id from audit.audit_events event cross join lateral (
          values ('user:' || event.user_id), ('organization:' || event.organization_id)) as log(owner)
        where log.owner is not null and not exists (select from audit.chains known where known.owner = log.owner)
        union all
        select owner, null from audit.altered_chains aside
        where not exists (select from audit.chains known where known.owner = aside.owner)
        offset 0
      ) due left join audit.entries entry on entry.event_id = due.id
        and not exists (select from audit.chains known where known.id = entry.chain_id)
      group by owner`,
  );
}

/**
 * Returns the newest month that a chain declares as dropped before a position, or null. A text that is no month does
 * not count.
 */
export async function selectDroppedMonth(
  tx: Orm,
  chain_id: number,
  before = Number.MAX_SAFE_INTEGER,
): Promise<string | null> {
  const [found] = await rows<{ month: string | null }>(
    tx,
    sql`select max(month) as month from audit.declarations
      where chain_id = ${bigint(chain_id)} and position < ${bigint(before)} and month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'`,
  );
  return found?.month ?? null;
}

/** An entry of a chain as stored, with what it was made of: an event, which may be missing, or a declaration. */
type ChainStep = Partial<StoredRow> & {
  position: number;
  chain: HexHash;
  is_outcome: boolean | null;
  entry_occurred_at: string | null;
  kind: "retention" | "restart" | null;
  content: { month: string; declared_at: string; from: number; lost: string } | null;
  salt: string | null;
};

/** Returns at most `limit` entries of a chain after a position, up to `to`, in their order. */
function selectSteps(
  tx: Orm,
  chain_id: number,
  after: number,
  to: number,
  limit: number,
): Promise<ChainStep[]> {
  const first = sql`order by position limit ${bigint(limit)}`;
  const at = sql`where chain_id = ${bigint(chain_id)} and position > ${bigint(after)} and position <= ${bigint(to)}
    ${first}`;
  return rows<ChainStep>(
    tx,
    sql`select entry.position, encode(entry.chain, 'hex') as chain, entry.is_outcome,
        entry.occurred_at as entry_occurred_at, entry.kind, entry.content, entry.salt, ${storedColumns}
      from (
        (select position, chain, occurred_at, event_id, is_outcome, null::text as kind, null::json as content,
          null::text as salt from audit.entries ${at})
        union all
        (select position, chain, null, null, null, kind, content, encode(salt, 'hex')
        from audit.declarations ${at})
        ${first}
      ) entry left join lateral (
        select * from audit.audit_events stored
        where stored.occurred_at = entry.occurred_at and stored.id = entry.event_id limit 1
      ) event on true
      order by entry.position`,
  );
}

/** Returns whether the database reported an error about what a statement writes or reads. */
export function isAboutRows(error: unknown): boolean {
  return sqlState(error) !== undefined && !(error instanceof StoreUnavailable);
}

const STEPS_MAX = 5_000;
const HASH = new RegExp(HASH_PATTERN);

/**
 * Yields the entries of a chain after a position, up to `end`, in pages. Ends before the first entry whose event the
 * database cannot return, which it finds with ever smaller pages.
 */
async function* readableSteps(
  tx: Orm,
  chain_id: number,
  after: number,
  end: number,
): AsyncGenerator<ChainStep[], void, void> {
  let size = STEPS_MAX;
  for (let from = after; from < end && size >= 1; ) {
    await rows(tx, sql`savepoint steps`);
    try {
      const steps = await selectSteps(tx, chain_id, from, end, size);
      yield steps;
      // the end can be a forged position, far behind the last entry
      if (steps.length < size) return;
      from = steps.at(-1)?.position ?? end;
    } catch (error) {
      if (!isAboutRows(error)) throw error;
      await rows(tx, sql`rollback to savepoint steps`);
      size = Math.floor(size / 2);
    }
  }
}

/**
 * Follows a chain from `start` to its end, as long as its entries can be read and are what was sealed. Entries that an
 * earlier restart gave up may be missing. Returns how far that is, the time of the newest of these entries, and how
 * many are declarations. Before `droppedMs`, the stored hash of an entry without an event counts.
 */
export async function intactEnd(
  tx: Orm,
  { id, owner, position: end }: Pick<ChainRow, "id" | "owner" | "position">,
  start: MapHead,
  droppedMs = 0,
): Promise<MapHead & { newestMs: number; declarations: number }> {
  let { position, chain } = start;
  let newestMs = 0;
  let declarations = 0;
  for await (const steps of readableSteps(tx, id, position, end)) {
    for (const step of steps) {
      const occurredMs = step.entry_occurred_at === null ? 0 : new Date(step.entry_occurred_at).getTime();
      const next = chainAfter(owner, { position, chain }, step, occurredMs < droppedMs);
      if (next === null) return { position, chain, newestMs, declarations };
      position = step.position;
      chain = next;
      newestMs = Math.max(newestMs, occurredMs);
      if (step.kind !== null) declarations += 1;
    }
  }
  return { position, chain, newestMs, declarations };
}

/** Returns the chain at a step that follows a position, or null if the step is not what was sealed there. */
function chainAfter(
  owner: string,
  { position, chain }: MapHead,
  step: ChainStep,
  isDropped: boolean,
): Hash | null {
  const lost = givenUpTo(step, position);
  if (step.position !== position + 1 && lost === null) return null;
  const hash = hashOfStep(owner, step);
  if (hash === null) return isDropped ? hashFromHex(step.chain) : null;
  const next = nextInChain(lost ?? chain, hash);
  return hexOf(next) === step.chain ? next : null;
}

/** Returns the chain before a restart if the restart gave up all entries after a position; null for any other step. */
function givenUpTo({ kind, content, position: at }: ChainStep, position: number): Hash | null {
  if (kind !== "restart" || content === null || content.from > position + 1 || at <= position + 1)
    return null;
  return HASH.test(content.lost) ? hashFromHex(content.lost) : null;
}

/** Returns the hash of an entry of an owner's chain, computed from what it was made of; null if that is missing. */
function hashOfStep(owner: string, step: ChainStep): Hash | null {
  const { kind, content, salt, is_outcome } = step;
  try {
    if (kind !== null && content !== null) return declarationHash(owner, { kind, ...content }, salt ?? "");
    if (!isStored(step) || is_outcome === null) return null;
    return entryIn(owner, step, is_outcome)?.hash ?? null;
  } catch {
    return null;
  }
}

function isStored(step: ChainStep): step is ChainStep & StoredRow {
  return typeof step.id === "string";
}
