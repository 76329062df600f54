import { type Clock, inSlices } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { hexOf, leafText } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Frontier, grown, type TrustedTree } from "../root/signed-root.ts";
import { type LeafRow, leafOf } from "../root/tree-sql.ts";
import { isAboutRows } from "./chain-sql.ts";
import { type AlteredChain, planChains } from "./chains.ts";
import {
  type EventPart,
  entriesOf,
  type NewEntry,
  ownersOf,
  partsInOrder,
  type UnsealedRow,
} from "./entries.ts";
import { leaveOutUnreadable, refusedOf, unreadableOf } from "./isolate.ts";
import { type LeafWrite, lockPasses, type PassWrite, writePass } from "./pass-sql.ts";
import {
  ENTRIES_MAX,
  type Look,
  newLook,
  type PassOptions,
  type PassRead,
  readPass,
  type SealMemory,
} from "./read-pass.ts";
import { changeReason, insertAltered, type SealerState, storeNote, storeNoteWithin } from "./state-sql.ts";
import { selectLogEvents } from "./unsealed-sql.ts";

export interface PassDeps {
  /** Connections for reads. PostgreSQL plans each of their statements for its actual parameter values. */
  reads: Database;
  writes: Database;
  memory: SealMemory;
  origin: string;
  clock: Clock;
  log: Pick<Logger, "error">;
  /** The replica that seals; null for a job, which replaces none. */
  holder: string | null;
}

/**
 * The result of a pass. `behind`: there is more to seal now. `lost`: another replica has written since the state
 * was read. `others`: another replica seals.
 */
interface PassResult {
  state: SealerState;
  entries: number;
  end: "done" | "behind" | "lost" | "others";
  /** The look as it continues after the pass; null once it has ended. */
  look: Look | null;
  /** Logs with an event that cannot be sealed. */
  altered?: readonly AlteredChain[];
}

/** The maximum number of left-out chains that one look reads. */
const LOOKED_AT_MAX = 100;

/** Seals all that is committed, and looks once at the chains that were left out, as a job does while no service seals. */
export async function sealAll(deps: PassDeps): Promise<void> {
  let looks: ReturnType<typeof lookAgain> | null = null;
  for (;;) {
    const { end, state } = await sealPass(deps);
    if (end !== "done") continue;
    looks ??= lookAgain(deps, state);
    if ((await looks.next()).done) return;
  }
}

/**
 * Looks at left-out chains, and seals the missing entries of chains whose rows match again. Yields after each pass, so that
 * the caller can seal what is new in other logs.
 */
export async function* lookAgain(
  deps: PassDeps,
  { altered }: Pick<SealerState, "altered">,
): AsyncGenerator<void, void, void> {
  for (const owner of nextTurn(altered, deps.memory)) {
    let look: Look | null = newLook(owner);
    while (look !== null) {
      look = await nextLook(deps, look);
      yield;
    }
  }
}

/** Returns the chains to look at now. Each chain gets its turn, however many stay altered. */
function nextTurn(altered: readonly string[], { looked }: PassDeps["memory"]): string[] {
  const waiting = altered.filter((owner) => !looked.has(owner));
  const others = altered.filter((owner) => looked.has(owner));
  const turn = [...waiting, ...others].slice(0, LOOKED_AT_MAX);
  if (waiting.length <= turn.length) looked.clear();
  for (const owner of turn) looked.add(owner);
  return turn;
}

/**
 * Continues a look. A log stays left out if the database cannot return one of its events or refuses its entries, or if one
 * of its events cannot be sealed.
 */
async function nextLook(deps: PassDeps, look: Look): Promise<Look | null> {
  const { reads, writes } = deps;
  const { owner } = look;
  const change = async (reason: string) => {
    if (await changeReason(writes, owner, reason)) logAltered(deps, { altered: [{ owner, reason }] });
  };
  try {
    const { look: next, altered = [] } = await sealPass(deps, { look });
    for (const { reason } of altered) await change(reason);
    return next;
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    // the look stays the only one that fails, even if a damaged page does not return the ids of its events
    const events = await reads
      .run("select_log_events", (orm) => selectLogEvents(orm, owner, look.after ?? "", ENTRIES_MAX))
      .catch(() => []);
    const { value: bad } = await unreadableOf(reads, events).next();
    await change(bad?.reason ?? `the database refuses its rows: ${reasonOf(error)}`);
    return null;
  }
}

/**
 * Seals committed events that have no position yet, up to the size of one pass: one read transaction, one write
 * transaction, then the signature. A log whose rows the database or this process refuses is left out.
 */
export async function sealPass(deps: PassDeps, options: PassOptions = {}): Promise<PassResult> {
  const { look = null, only = null } = options;
  const { state, tree, read } = await readInOneTransaction(deps, options);
  const nothing = { state, entries: 0, look };
  if (read === "others") return { ...nothing, end: "others" };
  if (read === "unsigned") {
    await signInterrupted(deps, state, tree);
    return { ...nothing, end: "behind" };
  }
  const found = await newEntries(deps, read);
  const write = passWrite(deps, { state, tree, ...read }, found);
  const entries = write?.entries?.length ?? 0;
  const next: PassResult = {
    state,
    entries,
    end: read.behind ? "behind" : "done",
    altered: found.altered,
    // an event that cannot be sealed ends the look, so that its log stays left out
    look:
      read.look && found.altered.length === 0
        ? { ...read.look, position: read.look.position + entries }
        : null,
  };
  if (write === null) return next;
  logAltered(deps, write);
  if (write.leaf !== null && state.has_added_nodes) {
    deps.log.error(
      { version: write.leaf.number },
      "somebody added rows to audit.head_map with the number of the next leaf: they do not count",
    );
  }
  try {
    if (!(await writeAndSign(deps, { state, tree }, write))) return { ...nothing, end: "lost" };
  } catch (error) {
    if (only !== null || look !== null || !isAboutRows(error)) throw error;
    const owners = write.heads?.map((head) => head.owner) ?? [];
    const refused = await refusedOf(owners, (group) => sealPass(deps, { only: group }));
    for (const each of refused) await insertAltered(deps.writes, each.owner, each.reason);
    logAltered(deps, { altered: refused });
    return { ...nothing, end: "behind" };
  }
  return next;
}

async function readInOneTransaction(deps: PassDeps, options: PassOptions): ReturnType<typeof readPass> {
  const { reads } = deps;
  const read = () =>
    reads.transaction("read_pass", (tx) => readPass(tx, deps, options), { isolation: "repeatable read" });
  try {
    return await read();
  } catch (error) {
    const isLook = options.look != null;
    if (isLook || error instanceof StoreUnavailable || !(await leaveOutUnreadable(deps))) throw error;
    return read();
  }
}

/** Signs a tree whose last pass was interrupted before its signature, and whose leaf was checked. */
async function signInterrupted(deps: PassDeps, state: SealerState, tree: TrustedTree): Promise<void> {
  const { memory, writes } = deps;
  const leaf = tree.unsigned;
  if (leaf === null) return;
  await memory.roots.sign(nextFrontierOf(tree, leaf), leaf, state.trees, (note) =>
    storeNote(writes, state.passes, note, leaf),
  );
}

/** The state of the sealer, and the tree under the last signed root. */
export interface Base {
  state: SealerState;
  tree: TrustedTree;
}

/** Writes a pass, and signs the root once the pass is committed. Returns whether the pass was written. */
async function writeAndSign(deps: PassDeps, base: Base, write: PassWrite): Promise<boolean> {
  const { state } = base;
  const { leaf } = write;
  if (!(await deps.writes.run("write_pass", (orm) => writePass(orm, state.passes, write)))) return false;
  if (leaf === null) return true;
  await signLeaf(deps, base, { ...write, leaf }, (note) =>
    storeNote(deps.writes, state.passes + 1, note, leaf),
  );
  return true;
}

/**
 * Writes a pass with its signed root in one transaction, for a pass that no replica may sign after an interruption: the
 * owner of the tables could have written it. Returns whether the pass was written.
 *
 * @param before changes entries or declarations of earlier passes, in the same transaction
 */
export function writeSigned(
  deps: PassDeps,
  base: Base,
  write: PassWrite & { leaf: LeafWrite },
  before?: (tx: Orm) => Promise<void>,
): Promise<boolean> {
  const { passes } = base.state;
  return deps.writes.transaction("write_pass", async (tx) => {
    if (before !== undefined) {
      if (!(await lockPasses(tx, passes))) return false;
      await before(tx);
    }
    if (!(await writePass(tx, passes, write))) return false;
    await signLeaf(deps, base, write, (note) => storeNoteWithin(tx, note));
    return true;
  });
}

function signLeaf(
  { memory: { roots } }: PassDeps,
  { state, tree }: Base,
  { leaf, begins = null }: PassWrite & { leaf: LeafWrite },
  store: (note: string) => Promise<boolean>,
): Promise<void> {
  const trees = begins === null ? state.trees : [...state.trees, begins];
  return roots.sign(nextFrontierOf(tree, leaf), leaf, trees, store);
}

function nextFrontierOf(
  { frontier, before }: Pick<TrustedTree, "frontier" | "before">,
  leaf: LeafRow,
): Frontier {
  return grown(frontier, leafText(leafOf(leaf, before))).frontier;
}

/** Returns what a pass writes, or null if nothing is due. */
function passWrite(
  deps: PassDeps,
  read: Base & PassRead,
  found: Awaited<ReturnType<typeof newEntries>>,
): PassWrite | null {
  const { state } = read;
  const all = [...read.altered, ...found.altered];
  const before = new Set(state.altered);
  const alteredNow = new Set(all.map(({ owner }) => owner));
  const altered = all.filter(({ owner }) => !before.has(owner));
  const restored = read.restored.filter((owner) => !alteredNow.has(owner));
  const plan = planChains(found.entries, read.chains, read.map);
  if (!read.isDue && plan.heads.length + altered.length + restored.length === 0) return null;
  const leaf = plan.heads.length === 0 ? null : nextLeaf(deps, read);
  const isFirst = leaf !== null && state.trees.length === 0;
  return {
    holder: deps.holder ?? state.holder,
    sealed_to: read.sealed_to,
    entries: plan.entries,
    heads: plan.heads,
    leaf,
    begins: isFirst ? { origin: deps.origin, before: 0, started_at: leaf.sealed_at } : null,
    altered,
    restored,
  };
}

/** Returns the leaf of the changed map, with the nodes that it writes. Its number follows `after`. */
export function nextLeaf(
  { clock }: Pick<PassDeps, "clock">,
  { state, tree, map, after }: Base & Pick<PassRead, "map"> & { after?: number },
): LeafWrite {
  const number = (after ?? Number(state.leaf?.number ?? 0)) + 1;
  const { root, nodes } = map.sealed(number);
  // the clock of a replica may be behind the clock of the replica that sealed before
  const atMs = Math.max(clock.now(), new Date(state.leaf?.sealed_at ?? 0).getTime());
  const leaf = { number, sealed_at: new Date(atMs).toISOString(), map: hexOf(root) };
  const { hashes } = grown(tree.frontier, leafText(leafOf(leaf, tree.before)));
  return { ...leaf, hashes: Buffer.concat(hashes).toString("base64"), nodes };
}

export function logAltered({ log }: PassDeps, { altered = [], restored = [] }: Partial<PassWrite>): void {
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

/**
 * Returns the entries that the rows of a pass lack in the chains that it may extend, and the chains to leave out because
 * of an event that cannot be sealed.
 */
async function newEntries(
  { clock, log }: Pick<PassDeps, "clock" | "log">,
  { rows, chains }: Pick<PassRead, "rows" | "chains">,
): Promise<{ entries: NewEntry[]; altered: AlteredChain[] }> {
  const ids = new Map(chains.map(({ owner, id }) => [owner, id]));
  const found: NewEntry[] = [];
  const altered = new Map<string, AlteredChain>();
  const add = (part: EventPart<UnsealedRow>) => {
    const { row, is_outcome } = part;
    const owners = ownersOf(row).filter((owner) => ids.has(owner));
    if (owners.length === 0) return;
    if (is_outcome && !row.intent_due && row.sealed_in === null) {
      log.error({ event_id: row.id }, "an event that no request wrote is left out of the proof");
      return;
    }
    try {
      found.push(...lackingEntries(part, ids));
    } catch (error) {
      const reason = `the event ${row.id} cannot be sealed: ${reasonOf(error)}`;
      for (const owner of owners) if (!altered.has(owner)) altered.set(owner, { owner, reason });
    }
  };
  function* steps() {
    for (const part of partsInOrder(rows)) yield add(part);
  }
  await inSlices(steps(), { sliceMs: SLICE_MS, clock });
  const entries = found.filter(({ owner }) => !altered.has(owner));
  return { entries, altered: [...altered.values()] };
}

/** Returns the entries of an intent or outcome that the chains with these ids lack. */
function lackingEntries(part: EventPart<UnsealedRow>, ids: ReadonlyMap<string, number>): NewEntry[] {
  const sealedIn = new Set(part.row.sealed_in?.split(","));
  return entriesOf(part).filter(({ owner, row }) => {
    const id = ids.get(owner);
    return id !== undefined && !sealedIn.has(`${id}${row.is_outcome ? "o" : "i"}`);
  });
}
