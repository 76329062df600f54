import { hexOf, monthEnd, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runJob, StartRefused } from "@ostiary/lib/runtime/service";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { auditProgram } from "../../config.ts";
import type { MapHead } from "../heads/head-map.ts";
import { selectNewestVersion } from "../heads/nodes-sql.ts";
import { checkJobConfig, jobVariables, runOwnerJob } from "../owner-job.ts";
import { EMPTY_TREE } from "../root/signed-root.ts";
import { type LeafRow, selectLeaf, sizeOf } from "../root/tree-sql.ts";
import { logAltered, TreeAltered } from "../seal/altered-chains.ts";
import { type ChainRow, forget, intactEnd, selectDroppedMonth } from "../seal/chain-sql.ts";
import { declare } from "../seal/declare.ts";
import type { PassDeps } from "../seal/pass-deps.ts";
import { checkUnsignedLeaf } from "../seal/read-pass.ts";
import { nextLeaf, writeSigned } from "../seal/sign-pass.ts";
import { type SealerState, selectState } from "../seal/state-sql.ts";
import { keptHeads } from "./kept-heads.ts";

/** What `ostiary audit restart` declares: that one chain, or the whole tree, goes on although rows were lost. */
type RestartOf = { owner: string } | { origin: string };

/** Runs `ostiary audit restart` as a process that reports what it declared and exits. */
export function runRestart(env: Environment, of: RestartOf): Promise<void> {
  const origin = "origin" in of ? of.origin : undefined;
  return runJob(
    (say) =>
      runOwnerJob(
        loadConfig(jobVariables, env, checkJobConfig),
        async (deps) => {
          if ("owner" in of) return say(await restartChain(deps, of.owner).then(givenUpText(of.owner)));
          const leftOut = await restartTree(deps);
          await say(
            `The log has a new tree with the name ${origin}. Set AUDIT_LOG_ORIGIN=${origin} and restart the service.\n${leftOutText(leftOut)}`,
          );
        },
        origin,
      ),
    { program: auditProgram, env },
  );
}

/** The part of a chain that a restart gave up: the entries of a chain from position `from` up to `to`. */
interface GivenUp {
  from: number;
  to: number;
}

const givenUpText =
  (owner: string) =>
  ({ from, to }: GivenUp) => {
    const lost = from > to ? "No position is given up" : `The positions ${from} to ${to} are given up`;
    return `The log of ${owner} continues after position ${to}. ${lost}; every later export says so.\n`;
  };

const leftOutText = (count: number) =>
  count === 0
    ? ""
    : `Logs that are left out, because their heads are lost: ${count}. Run ostiary audit restart --owner OWNER for each of them in audit.altered_chains.\n`;

/**
 * Declares that rows of an owner's chain cannot be restored (AU-203). The chain continues from its sealed head. Events
 * that still exist get new positions after the declaration.
 *
 * @throws StartRefused if the log of the owner was never sealed
 */
export async function restartChain(deps: PassDeps, owner: string): Promise<GivenUp> {
  let givenUp = { from: 1, to: 0 };
  let walked: { head: string; from: number } | null = null;
  await declare(deps, [owner], async ({ map, chains }, tx) => {
    const head = map.headOf(owner);
    if (head === null)
      throw new StartRefused(`The log of ${owner} was never sealed, so there is nothing to restart.`);
    if (head === "lost") {
      throw new StartRefused(
        `The path to ${owner} in the map of heads is gone: restore audit.head_map, or run ostiary audit restart --origin NAME.`,
      );
    }
    const { position } = head;
    const lost = hexOf(head.chain);
    const ends = chains.map((row): ChainRow => ({ ...row, position, chain: lost, has_later_entries: false }));
    const [end] = ends;
    if (end === undefined) throw new Error("The chain was not read.");
    // a service that seals other logs makes the declaration begin again, which must not repeat a long walk
    const from: number = walked?.head === lost ? walked.from : await firstLost(tx, end, head);
    walked = { head: lost, from };
    givenUp = { from, to: position };
    const declared_at = new Date(deps.clock.now()).toISOString();
    return {
      declared: [{ owner, declaration: { kind: "restart", from, declared_at, lost } }],
      chains: ends,
      also: (writing) => forget(writing, end, from),
    };
  });
  return givenUp;
}

/**
 * Returns the first position at which the rows of a chain differ from what was sealed. A declaration from there on is
 * given up too, so the dropped entries that only such a declaration explains are lost as well.
 */
async function firstLost(tx: Orm, row: ChainRow, head: MapHead): Promise<number> {
  const start = { position: 0, chain: ZERO_HASH };
  for (let before = head.position + 1; ; ) {
    const month = await selectDroppedMonth(tx, row.id, before);
    const end = await intactEnd(tx, row, start, month === null ? 0 : monthEnd(month));
    // rows that agree with each other, but not with the sealed head, were forged from the first one on
    if (end.position === head.position && hexOf(end.chain) !== hexOf(head.chain)) return 1;
    const from = end.position + 1;
    if (from >= before || month === null) return from;
    before = from;
  }
}

/**
 * Begins a new tree under the name `deps.origin`, for a database that was set back as a whole, or whose tree cannot be
 * restored (AU-204). Its first leaf has the heads of the leaf that was signed last, if its root still shows it, and its
 * roots name the earlier trees. Returns the number of logs that it leaves out, because their heads are lost and their
 * rows do not give them.
 *
 * @throws StartRefused if the log has no tree yet, or if a tree has this name
 */
export async function restartTree(deps: PassDeps): Promise<number> {
  const { origin } = deps;
  const state = await deps.reads.run("select_sealer", selectState);
  if (state.trees.length === 0) throw new StartRefused("The log has no tree yet: set AUDIT_LOG_ORIGIN.");
  if (state.trees.some((tree) => tree.origin === origin)) {
    throw new StartRefused(`The log already has a tree with the name ${origin}. Choose a new name.`);
  }
  const kept = await leafToKeep(deps, state);
  const { map, altered } = await keptHeads(deps, { ...state, leaf: kept });
  // nodes of a leaf that is lost may be stored still, and no leaf gets their number again
  const newest = await deps.reads.run("select_newest_version", selectNewestVersion);
  const before = Math.max(Number(state.leaf?.number ?? 0), newest);
  const tree = { before, frontier: EMPTY_TREE, leaf: null, unsigned: null };
  const leaf = nextLeaf(deps, { state: { ...state, leaf: kept }, tree, map, after: before });
  const begins = { origin, before, started_at: leaf.sealed_at };
  // an interruption must leave no tree under a root of another name
  const isWritten = await writeSigned(
    deps,
    { state, tree },
    { holder: deps.holder ?? state.holder, sealed_to: state.sealed_to, leaf, begins, altered },
  );
  if (!isWritten)
    throw new StartRefused("The service sealed events during the restart: stop the service, and try again.");
  logAltered(deps, { altered });
  return altered.length;
}

/**
 * Returns the leaf whose heads a new tree takes: that of the signed root, or the next one if its pass was interrupted
 * before the signature. If the root does not show a stored leaf, returns the newest stored one.
 */
function leafToKeep({ reads, memory, clock, log }: PassDeps, state: SealerState): Promise<LeafRow | null> {
  const { note, leaf: newest, trees } = state;
  const read = async (tx: Orm) => {
    const { origin, before } = trees.at(-1) ?? { origin: "", before: 0 };
    const roots = memory.roots.named(origin);
    const leaves = note === null ? [] : [newest, await selectLeaf(tx, before + sizeOf(note))];
    for (const leaf of leaves) {
      try {
        const tree = await roots.check(tx, { ...state, leaf });
        if (tree.unsigned !== null)
          await checkUnsignedLeaf(tx, memory.nodes, tree, tree.unsigned, clock.now());
        return leaf;
      } catch (error) {
        if (!(error instanceof TreeAltered)) throw error;
      }
    }
    log.error({}, "no signed root shows the newest stored leaf, whose heads the new tree takes");
    return newest;
  };
  return reads.transaction("read_kept_leaf", read, { isolation: "repeatable read" });
}
