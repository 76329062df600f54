import { randomBytes } from "node:crypto";
import { type Clock, inSlices } from "@ostiary/lib/async";
import { signText } from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { HeadMap } from "../head-map/head-map.ts";
import type { SigningKey } from "../signing-key/key-file.ts";
import { type Placed, planChains } from "./append-to-chains.ts";
import { type ChainRow, selectChains } from "./chain-sql.ts";
import { type EventPart, entriesOf, type NewEntry, partsInOrder, type UnsealedRow } from "./entries.ts";
import { type EntryWrite, type PassWrite, writePass } from "./pass-sql.ts";
import { MARKS_TYPE, marksText, type SealedState } from "./sealed-state.ts";
import { type SealerState, selectUnmapped } from "./sealer-state-sql.ts";
import { grownTree, nextCheckpoint } from "./sign-checkpoint.ts";
import { parseSnapshot, type Snapshot, sealedAfter, snapshotText, windowAfter } from "./snapshot.ts";
import { selectAnyUnsealed, selectBound, selectWindow } from "./unsealed-sql.ts";

/**
 * The maximum number of entries of each kind in one pass, so that statements stay short and other work gets
 * its turn.
 */
export const ENTRIES_MAX = 5_000;
/** The maximum number of chains that one pass adds to the map of heads. */
const UNMAPPED_MAX = 2_000;
const SLICE_MS = 10;
export const SALT_BYTES = 16;

export interface PassDeps {
  /** Connections for reads. PostgreSQL plans each of their statements for its actual parameter values. */
  reads: Database;
  writes: Database;
  key: SigningKey | null;
  /** The name of the log in signed roots of its tree. Null for a pass that adds no leaf to the tree. */
  origin: string | null;
  sealed: SealedState;
  clock: Clock;
  log: Pick<Logger, "error">;
  /** Id of this replica. */
  holder: string;
}

/**
 * The result of a pass. `behind`: there is more to seal now. `lost`: another replica has written since the state
 * was read.
 */
export interface PassResult {
  entries: number;
  end: "done" | "behind" | "lost";
}

/** The events that a pass must seal, and the new values of the sealer's marks. The pass writes both together. */
interface Due {
  rows: UnsealedRow[];
  sealed_to: string;
  behind: boolean;
  /** Whether the marks must stay unsigned for now. */
  isUnsigned?: boolean;
}

/**
 * Seals committed events that have no position yet, up to the size of one pass, on top of `state`. One
 * statement writes everything, or nothing if another replica wrote a pass in the meantime.
 */
export async function sealPass(deps: PassDeps, state: SealerState): Promise<PassResult> {
  const isMoved = deps.key !== null && !(await deps.sealed.areMarksSigned(state));
  const unsealed = isMoved ? await movedRows(deps, state) : await dueRows(deps.reads, state);
  const due = { ...unsealed, behind: unsealed.behind || state.has_unmapped || isTreeBehind(deps, state) };
  if (due.rows.length === 0 && !due.behind && !isMoved) return { entries: 0, end: "done" };
  const entries = await newEntries(deps, due.rows, state);
  const write = await passWrite(deps, state, due, entries);
  if (!(await writePass(deps.writes, state.passes, write))) return { entries: 0, end: "lost" };
  notePass(deps, write);
  return { entries: write.entries.length, end: due.behind ? "behind" : "done" };
}

/**
 * Remembers the heads of the chains that a pass extended. Forgets and logs the chains that the pass set
 * aside.
 */
export function notePass({ sealed, log }: PassDeps, { heads, checkpoint, altered = [] }: PassWrite): void {
  sealed.lastWrites.remember(heads, checkpoint);
  for (const chain of altered) {
    sealed.lastWrites.forget(chain.owner);
    log.error(
      chain,
      "the log of an owner is not what the sealer wrote: the sealer skips this log and seals the others",
    );
  }
}

/** Returns whether this process adds leaves to the tree of checkpoints, and some checkpoint has no leaf yet. */
function isTreeBehind({ origin }: PassDeps, { checkpoint, tree_size }: SealerState): boolean {
  return origin !== null && tree_size < (checkpoint?.number ?? 0);
}

async function dueRows(database: Database, state: SealerState): Promise<Due> {
  const sealed = parseSnapshot(state.sealed_to);
  const now = parseSnapshot(state.now);
  // a database that was restored on another server has lower transaction numbers
  if (now.xmax < sealed.xmax) return restoredRows(database, state, now);
  const window = windowAfter(sealed, now, await selectBound(database, sealed.xmax, ENTRIES_MAX));
  const rows = await selectWindow(database, window);
  const sealed_to = snapshotText(sealedAfter(window));
  return { rows, sealed_to, behind: window.before < now.xmax };
}

/**
 * Returns the events to seal in a restored database. `sealed_to` is a snapshot of the server that the log came from.
 * A snapshot of this server replaces `sealed_to` once all events are sealed.
 */
async function restoredRows(database: Database, { sealed_to }: SealerState, now: Snapshot): Promise<Due> {
  const rows = await selectAnyUnsealed(database, ENTRIES_MAX);
  const behind = rows.length === ENTRIES_MAX;
  return { rows, sealed_to: behind ? sealed_to : snapshotText(now), behind };
}

/**
 * Returns the events to seal after somebody changed the marks. Searches the whole log; the marks stay unsigned until
 * the search is complete.
 */
async function movedRows({ reads, log }: PassDeps, state: SealerState): Promise<Due> {
  if (state.marks !== null)
    log.error({}, "the marks of the audit sealer have changed: the sealer searches the whole log");
  const due = await restoredRows(reads, state, parseSnapshot(state.now));
  return { ...due, isUnsigned: due.behind };
}

/**
 * Returns the entries of rows, except in chains that are set aside.
 */
async function newEntries(
  deps: PassDeps,
  rows: readonly UnsealedRow[],
  { set_aside }: SealerState,
): Promise<NewEntry[]> {
  const unclaimed = rows.filter(({ claimed }) => !claimed);
  if (unclaimed.length > 0) {
    const ids = unclaimed.slice(0, 10).map(({ id }) => id);
    deps.log.error(
      { events: unclaimed.length, ids },
      "events that no request wrote are left out of the proof",
    );
  }
  const entries = await entriesOfRows(
    deps,
    rows.filter(({ claimed }) => claimed),
  );
  const aside = new Set(set_aside.map(({ owner }) => owner));
  return entries.filter(({ owner }) => !aside.has(owner));
}

/** Returns the entries of rows that the pass must seal, in the order of their transactions. */
export async function entriesOfRows({ clock }: PassDeps, rows: readonly UnsealedRow[]): Promise<NewEntry[]> {
  const entries: NewEntry[] = [];
  const newSalt = () => randomBytes(SALT_BYTES).toString("hex");
  function* hashing(parts: readonly EventPart[]) {
    for (const part of parts) {
      entries.push(...entriesOf(part, newSalt));
      yield;
    }
  }
  await inSlices(hashing(partsInOrder(rows)), { sliceMs: SLICE_MS, clock });
  return entries;
}

async function passWrite(
  deps: PassDeps,
  state: SealerState,
  { sealed_to, isUnsigned }: Due,
  entries: readonly NewEntry[],
): Promise<PassWrite> {
  const { map, chains } = await chainsOf(deps, state, entries);
  const altered = await deps.sealed.alteredOf(chains, map);
  const aside = new Set(altered.map(({ owner }) => owner));
  const placed = await placeEntries(
    deps,
    state,
    entries.filter(({ owner }) => !aside.has(owner)),
    { map, chains: chains.filter(({ owner }) => !aside.has(owner)) },
  );
  return {
    ...placed,
    holder: deps.holder,
    sealed_to,
    sealed_before: state.sealed_to,
    marks: isUnsigned ? null : await signedMarks(deps, { sealed_to }),
    altered,
  };
}

/**
 * Returns the chains of entries, and chains that are not in the map of heads yet. Reads only the nodes of the map
 * that lead to these chains.
 */
async function chainsOf(
  { reads, sealed }: PassDeps,
  state: SealerState,
  entries: readonly NewEntry[],
): Promise<{ map: HeadMap; chains: readonly ChainRow[] }> {
  const unmapped = state.has_unmapped ? await selectUnmapped(reads, UNMAPPED_MAX) : [];
  const owners = [...new Set([...entries.map(({ owner }) => owner), ...unmapped])];
  if (owners.length === 0) return { map: await sealed.openMap(null, []), chains: [] };
  const [map, chains] = await Promise.all([
    sealed.openMap(state.checkpoint, owners),
    selectChains(reads, owners),
  ]);
  return { map, chains };
}

/** Signs the sealer's marks, which record how far the log is sealed. Returns undefined if no key is configured. */
async function signedMarks(
  { key }: PassDeps,
  marks: Pick<SealerState, "sealed_to">,
): Promise<string | undefined> {
  return key === null ? undefined : signText(marksText(marks), MARKS_TYPE, key);
}

/** Returns the fields of a {@link PassWrite} for the entries of chains. The caller has verified the chains. */
export async function placeEntries(
  deps: PassDeps,
  state: SealerState,
  entries: readonly NewEntry[],
  { map, chains }: { map: HeadMap; chains: readonly ChainRow[] },
): Promise<Pick<PassWrite, "entries" | "heads" | "nodes" | "checkpoint" | "tree">> {
  if (chains.length === 0) {
    const tree = await grownTree(deps, state, null);
    return { entries: [], heads: [], nodes: [], checkpoint: null, tree };
  }
  const plan = planChains(entries, chains, map);
  const sealed_at = new Date(deps.clock.now()).toISOString();
  return {
    entries: plan.entries.map(entryWrite),
    heads: plan.heads,
    ...(await nextCheckpoint(deps, state, map, sealed_at)),
  };
}

function entryWrite({ entry, ...place }: Placed<NewEntry>): EntryWrite {
  const { occurred_at, event_id, is_outcome, own_salt } = entry;
  return { ...place, occurred_at, event_id, is_outcome, salt: own_salt };
}
