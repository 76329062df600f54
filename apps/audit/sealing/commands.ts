import { randomBytes } from "node:crypto";
import { type Clock, inSlices } from "@ostiary/lib/async";
import {
  type Checkpoint,
  type CheckpointKey,
  checkpointHash,
  hexOf,
  signedCheckpoint,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type DuePart, entriesOf, type NewEntry, partsInOrder, type UnsealedRow } from "./entries.ts";
import { planChains } from "./plan.ts";
import {
  type OlderCursor,
  olderCursor,
  type PassWrite,
  type SealerState,
  selectAnyUnsealed,
  selectBound,
  selectChains,
  selectOlder,
  selectWindow,
  writePass,
} from "./queries.ts";
import { parseSnapshot, type Snapshot, sealedAfter, snapshotText, windowAfter } from "./snapshot.ts";
import type { SealedState } from "./trust.ts";

/** Entries that a pass looks for of each kind: its statements stay short, and others have their turn. */
const ENTRIES_MAX = 5_000;
const SLICE_MS = 10;
const SALT_BYTES = 16;

export interface PassDeps {
  /** Where events are read, with a plan for each window. */
  reads: Database;
  writes: Database;
  key: CheckpointKey | null;
  sealed: SealedState;
  clock: Clock;
  log: Logger;
  /** This replica. */
  holder: string;
}

/** `behind`: more can be sealed at once. `lost`: another replica has written since the state was read. */
export interface PassResult {
  entries: number;
  checkpoint: Checkpoint | null;
  end: "done" | "behind" | "lost";
}

/** Events that are due, and how far everything is sealed once they are. */
interface Due {
  rows: UnsealedRow[];
  sealed_to: string;
  older: OlderCursor | null;
  behind: boolean;
}

/**
 * Seals what was committed and has no place yet, a pass at most, on top of `state`: nothing, or all of it by one
 * statement that does nothing if somebody else was quicker.
 */
export async function sealPass(deps: PassDeps, state: SealerState): Promise<PassResult> {
  const due = await dueRows(deps.reads, state);
  if (due.rows.length === 0 && !due.behind) return { entries: 0, checkpoint: null, end: "done" };
  const entries = await newEntries(deps, due.rows, state.older?.kind ?? null);
  const write = await passWrite(deps, state, due, entries);
  const written = await writePass(deps.writes, state.passes, write);
  if (!written) return { entries: 0, checkpoint: null, end: "lost" };
  return { entries: entries.length, checkpoint: write.checkpoint, end: due.behind ? "behind" : "done" };
}

async function dueRows(database: Database, state: SealerState): Promise<Due> {
  if (state.older !== null) return olderRows(database, state, state.older);
  const sealed = parseSnapshot(state.sealed_to);
  const now = parseSnapshot(state.now);
  // a database that was dumped and restored into another server counts its transactions anew
  if (now.xmax < sealed.xmax) return restoredRows(database, state, now);
  const window = windowAfter(sealed, now, await selectBound(database, sealed.xmax, ENTRIES_MAX));
  const rows = await selectWindow(database, window);
  const sealed_to = snapshotText(sealedAfter(window));
  return { rows, sealed_to, older: null, behind: window.before < now.xmax };
}

/** Events from before the log was proved come first: those of organizations, then those of persons. */
async function olderRows(database: Database, { sealed_to }: SealerState, cursor: OlderCursor): Promise<Due> {
  const rows = await selectOlder(database, cursor, ENTRIES_MAX);
  const last = rows.at(-1);
  if (last !== undefined && rows.length === ENTRIES_MAX) {
    return { rows, sealed_to, older: olderCursor(cursor.kind, last), behind: true };
  }
  const older = cursor.kind === "organization" ? ({ kind: "user", owner: "", id: "" } as const) : null;
  return { rows, sealed_to, older, behind: true };
}

/** What `sealed_to` says is of the other server, and is left until all is sealed. */
async function restoredRows(database: Database, { sealed_to }: SealerState, now: Snapshot): Promise<Due> {
  const rows = await selectAnyUnsealed(database, ENTRIES_MAX);
  const behind = rows.length === ENTRIES_MAX;
  return { rows, sealed_to: behind ? sealed_to : snapshotText(now), older: null, behind };
}

/** The entries of rows; of older ones those in the logs of the kind that the walk is at. */
async function newEntries(
  { clock, log }: PassDeps,
  rows: readonly UnsealedRow[],
  kind: OlderCursor["kind"] | null,
): Promise<NewEntry[]> {
  const unclaimed = rows.filter(({ claimed }) => !claimed);
  if (unclaimed.length > 0) {
    const ids = unclaimed.slice(0, 10).map(({ id }) => id);
    log.error({ events: unclaimed.length, ids }, "events that no request wrote are left out of the proof");
  }
  const entries: NewEntry[] = [];
  const newSalt = () => randomBytes(SALT_BYTES).toString("hex");
  function* hashing(parts: readonly DuePart[]) {
    for (const part of parts) {
      const made = entriesOf(part, newSalt);
      entries.push(...(kind === null ? made : made.filter(({ owner }) => owner.startsWith(`${kind}:`))));
      yield;
    }
  }
  await inSlices(hashing(partsInOrder(rows.filter(({ claimed }) => claimed))), { slice_ms: SLICE_MS, clock });
  return entries;
}

async function passWrite(
  deps: PassDeps,
  state: SealerState,
  { sealed_to, older }: Due,
  entries: readonly NewEntry[],
): Promise<PassWrite> {
  const common = { holder: deps.holder, sealed_to, older };
  if (entries.length === 0) return { ...common, entries: [], heads: [], checkpoint: null };
  const owners = [...new Set(entries.map(({ owner }) => owner))];
  const chains = await selectChains(deps.reads, owners);
  await deps.sealed.check(state.checkpoint, chains);
  const plan = planChains(entries, chains);
  const payload = {
    number: (state.checkpoint?.number ?? 0) + 1,
    sealed_at: new Date(deps.clock.now()).toISOString(),
    previous: state.checkpoint === null ? hexOf(ZERO_HASH) : checkpointHash(state.checkpoint),
    heads: hexOf(plan.root),
  };
  const checkpoint = await signedCheckpoint(payload, deps.key);
  return { ...common, entries: plan.entries, heads: plan.heads, checkpoint };
}
