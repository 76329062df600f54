import { type Clock, inSlices } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { hexOf, leafText } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Edge, grown, type TrustedTree } from "../root/signed-root.ts";
import { type LeafRow, leafOf } from "../root/tree-sql.ts";
import { type AlteredChain, planChains } from "./chains.ts";
import {
  type EventPart,
  entriesOf,
  type NewEntry,
  ownersOf,
  partsInOrder,
  type UnsealedRow,
} from "./entries.ts";
import { isAboutRows, leaveOutUnreadable, refusedOf } from "./isolate.ts";
import { type LeafWrite, type PassWrite, writePass } from "./pass-sql.ts";
import {
  checkUnsignedLeaf,
  ENTRIES_MAX,
  type PassRead,
  type ReadOptions,
  readStateAndPass,
  type SealMemory,
} from "./read-pass.ts";
import { insertAltered, type SealerState, storeNote } from "./state-sql.ts";

export interface PassDeps {
  /** Connections for reads. PostgreSQL plans each of their statements for its actual parameter values. */
  reads: Database;
  writes: Database;
  memory: SealMemory;
  origin: string;
  clock: Clock;
  log: Pick<Logger, "error">;
  holder: string;
}

interface PassOptions extends Partial<ReadOptions> {
  /** Whether this replica may seal in a state. */
  isMine?: (state: SealerState) => boolean;
}

/**
 * The result of a pass. `behind`: there is more to seal now. `lost`: another replica has written since the state
 * was read. `others`: another replica seals. `refused`: the database refused some chains, and there may be more to seal.
 */
interface PassResult {
  state: SealerState;
  entries: number;
  end: "done" | "behind" | "lost" | "others" | "refused";
}

/**
 * Seals committed events that have no position yet, up to the size of one pass: one read transaction, one write
 * transaction, then the signature. A log whose rows the database or this process refuses is left out.
 */
export async function sealPass(deps: PassDeps, options: PassOptions = {}): Promise<PassResult> {
  const { isMine = () => true, looks = true, only = null } = options;
  const { state, read } = await readInOneTransaction(deps, isMine, { looks, only });
  if (read === null) return { state, entries: 0, end: "others" };
  if (read.tree.unsigned !== null) return signInterrupted(deps, read, read.tree.unsigned);
  const write = await passWrite(deps, read, only);
  if (write === null) return { state, entries: 0, end: "done" };
  logAltered(deps, write);
  const owners = write.heads.map(({ owner }) => owner);
  try {
    if (!(await writeAndSign(deps, read, write))) return { state, entries: 0, end: "lost" };
  } catch (error) {
    if (only !== null || !isAboutRows(error)) throw error;
    const refused = await refusedOf(owners, (group) => sealPass(deps, { looks, only: group }));
    for (const { owner, reason } of refused) await insertAltered(deps.writes, owner, reason);
    logAltered(deps, { altered: refused, restored: [] });
    return { state, entries: 0, end: "refused" };
  }
  const isRestoring =
    write.entries.length > 0 && [...read.restored.keys()].some((each) => hasMore(read, each));
  const isBehind = read.behind || write.restored.length > 0 || isRestoring;
  return { state, entries: write.entries.length, end: isBehind ? "behind" : "done" };
}

async function readInOneTransaction(
  { reads, memory, log }: PassDeps,
  isMine: (state: SealerState) => boolean,
  options: ReadOptions,
): ReturnType<typeof readStateAndPass> {
  const read = () =>
    reads.transaction("read_pass", (tx) => readStateAndPass(tx, memory, isMine, options), {
      isolation: "repeatable read",
    });
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreUnavailable || !(await leaveOutUnreadable({ reads, memory, log }))) throw error;
    return read();
  }
}

/** Signs a tree whose last pass was interrupted before its signature. The next pass continues. */
async function signInterrupted(
  deps: PassDeps,
  { state, tree }: PassRead,
  leaf: LeafRow,
): Promise<PassResult> {
  const { memory, reads, writes, clock } = deps;
  if (!memory.roots.wrote(leaf)) {
    await reads.transaction(
      "check_unsigned_leaf",
      (tx) => checkUnsignedLeaf(tx, memory.nodes, tree, leaf, clock.now()),
      { isolation: "repeatable read" },
    );
  }
  await memory.roots.sign(nextEdge(tree, leaf), leaf, state.trees, (note) =>
    storeNote(writes, state.passes, note, leaf),
  );
  return { state, entries: 0, end: "behind" };
}

/** Writes a pass, and signs the root once the pass is committed. Returns whether the pass was written. */
export async function writeAndSign(
  { memory: { roots }, writes }: PassDeps,
  { state, tree }: Pick<PassRead, "state" | "tree">,
  write: PassWrite,
  also?: (tx: Orm) => Promise<void>,
): Promise<boolean> {
  const { leaf, begins } = write;
  if (leaf !== null) roots.writing(leaf);
  if (!(await writePass(writes, state.passes, write, also))) return false;
  if (leaf === null) return true;
  const trees = begins === null ? state.trees : [...state.trees, begins];
  await roots.sign(nextEdge(tree, leaf), leaf, trees, (note) =>
    storeNote(writes, state.passes + 1, note, leaf),
  );
  return true;
}

export function nextEdge({ edge, before }: Pick<TrustedTree, "edge" | "before">, leaf: LeafRow): Edge {
  return grown(edge, leafText(leafOf(leaf, before))).edge;
}

/** Returns what a pass writes, or null if nothing is due. */
async function passWrite(
  deps: PassDeps,
  read: PassRead,
  only: ReadonlySet<string> | null,
): Promise<PassWrite | null> {
  const { state, restored, rows } = read;
  const isDue = rows.length > 0 || read.behind || read.altered.length > 0 || restored.size > 0;
  if (!isDue) return null;
  const { entries, altered } = await newEntries(read, deps);
  const kept = only === null ? entries : entries.filter(({ owner }) => only.has(owner));
  const plan = planChains(kept, read.chains, read.map);
  const leaf = plan.heads.length === 0 ? null : nextLeaf(deps, read);
  const isFirst = leaf !== null && state.trees.length === 0;
  return {
    holder: deps.holder,
    sealed_to: only === null ? read.sealed_to : state.sealed_to,
    entries: plan.entries.map(({ entry: { event_id, occurred_at, is_outcome }, ...place }) => ({
      ...place,
      event_id,
      occurred_at,
      is_outcome,
    })),
    heads: plan.heads,
    leaf,
    begins: isFirst ? { origin: deps.origin, before: 0, started_at: leaf.sealed_at } : null,
    altered,
    restored: [...restored.keys()].filter(
      (owner) => !hasMore(read, owner) && !altered.some((chain) => chain.owner === owner),
    ),
  };
}

/** Whether an owner that was left out has more waiting events than one pass takes. It is taken back with the last ones. */
function hasMore({ restored }: PassRead, owner: string): boolean {
  return (restored.get(owner)?.length ?? 0) >= ENTRIES_MAX;
}

/** Returns the leaf of the changed map, with the nodes that it writes. */
export function nextLeaf(
  { clock }: Pick<PassDeps, "clock">,
  { state, tree, map }: Pick<PassRead, "state" | "tree" | "map">,
): LeafWrite {
  const number = Number(state.leaf?.number ?? 0) + 1;
  const { root, nodes } = map.sealed(number);
  // the clock of a replica may be behind the clock of the replica that sealed before
  const atMs = Math.max(clock.now(), new Date(state.leaf?.sealed_at ?? 0).getTime());
  const leaf = { number, sealed_at: new Date(atMs).toISOString(), map: hexOf(root) };
  const { hashes } = grown(tree.edge, leafText(leafOf(leaf, tree.before)));
  return { ...leaf, hashes: Buffer.concat(hashes).toString("base64"), nodes };
}

function logAltered({ log }: PassDeps, { altered, restored }: Pick<PassWrite, "altered" | "restored">): void {
  for (const chain of altered) {
    log.error(
      chain,
      "the log of an owner is not what was sealed: the sealer leaves it out and seals the others",
    );
  }
  for (const owner of restored) {
    log.error({ owner }, "the log of an owner is what was sealed again: sealing continues");
  }
}

const SLICE_MS = 10;

/** The entries of a pass in their order, and the chains that are left out from now on. */
interface Found {
  entries: NewEntry[];
  altered: AlteredChain[];
}

/** Returns the entries that the rows of a pass lack. Leaves out the chains of an event that cannot be sealed. */
async function newEntries(
  { state, restored, chains, rows, altered }: PassRead,
  { clock, log }: { clock: Clock; log: Pick<Logger, "error"> },
): Promise<Found> {
  const found = new EntryFinder(new Map(chains.map(({ owner, id }) => [owner, id])), altered, log);
  const leftOut = new Set(state.altered);
  const options = { sliceMs: SLICE_MS, clock };
  await inSlices(
    found.addAll(rows, (owner) => !leftOut.has(owner)),
    options,
  );
  for (const [restoredOwner, own] of restored) {
    await inSlices(
      found.addAll(own, (owner) => owner === restoredOwner),
      options,
    );
  }
  return found.result;
}

class EntryFinder {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #log: Pick<Logger, "error">;
  readonly #entries: NewEntry[] = [];
  readonly #altered: Map<string, AlteredChain>;

  constructor(
    ids: ReadonlyMap<string, number>,
    altered: readonly AlteredChain[],
    log: Pick<Logger, "error">,
  ) {
    this.#ids = ids;
    this.#log = log;
    this.#altered = new Map(altered.map((chain) => [chain.owner, chain]));
  }

  get result(): Found {
    const entries = this.#entries.filter(({ owner }) => !this.#altered.has(owner));
    return { entries, altered: [...this.#altered.values()] };
  }

  /** Adds the entries of rows in the chains that `isOpen`. Yields after each intent and outcome. */
  *addAll(rows: readonly UnsealedRow[], isOpen: (owner: string) => boolean) {
    for (const part of partsInOrder(rows)) {
      this.#add(part, isOpen);
      yield;
    }
  }

  #add(part: EventPart<UnsealedRow>, isOpen: (owner: string) => boolean): void {
    const { row, is_outcome } = part;
    if (is_outcome && !row.intent_due && row.placed === null) {
      this.#log.error({ event_id: row.id }, "an event that no request wrote is left out of the proof");
      return;
    }
    const placed = new Set(row.placed?.split(","));
    try {
      for (const entry of entriesOf(part)) {
        const place = `${this.#ids.get(entry.owner)}${entry.is_outcome ? "o" : "i"}`;
        if (isOpen(entry.owner) && !placed.has(place)) this.#entries.push(entry);
      }
    } catch (error) {
      const reason = `the event ${row.id} cannot be sealed: ${reasonOf(error)}`;
      for (const owner of ownersOf(row).filter(isOpen)) {
        if (!this.#altered.has(owner)) this.#altered.set(owner, { owner, reason });
      }
    }
  }
}
