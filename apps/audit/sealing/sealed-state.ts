import {
  type Checkpoint,
  canonicalJson,
  checkpointProblem,
  hashFromHex,
  headLeaf,
  hexOf,
  isIncluded,
  type SigningJwk,
  signedTextOf,
  signerOf,
} from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { CheckpointTree, TreeAltered, type TreeWrite } from "../checkpoint-tree/tree.ts";
import { HeadMap, NodeCache, rootOf } from "../head-map/head-map.ts";
import { checkpointOf, selectFirstSigned, selectSigningKeys } from "../published-checkpoints/sql.ts";
import type { SigningKey } from "../signing-key/key-file.ts";
import { type AlteredChain, endOf, type SetAside, selectChainAt } from "./altered-sql.ts";
import type { ChainRow } from "./chain-sql.ts";
import type { SealerState } from "./sealer-state-sql.ts";
import { type End, LastWrites, setBackOf } from "./set-back.ts";

/** The error for a database that differs from what was sealed. The sealer adds nothing to an altered log. */
export class LogAltered extends Error {
  constructor(what: string) {
    super(`${what}. Somebody has altered the log; nothing more is sealed until it is restored.`);
    this.name = "LogAltered";
  }
}

const LOST_WAY = "the path to the chain in the map of the newest checkpoint is gone";

const CHECKPOINTS_MAX = 10_000;

export const MARKS_TYPE = "audit-marks";

/** Returns the signed text of the sealer's marks, which record how far the log is sealed. */
export function marksText({ sealed_to }: Pick<SealerState, "sealed_to">): string {
  return canonicalJson({ sealed_to });
}

/** Returns the head of a chain according to the map of heads, for the record of an altered chain. */
function sealedEnd(map: HeadMap, owner: string): { position: number | null; chain: string | null } {
  const head = map.headOf(owner);
  if (head === null || head === "lost") return { position: null, chain: null };
  return { position: head.position, chain: hexOf(head.chain) };
}

/** The conditions under which a set-aside chain is sealed again. */
interface Expected {
  /** The head that the sealer remembers, or null if it remembers none. */
  end: End | null;
  /** Whether an operator accepted the chain's current row, so that sealing continues from it. */
  accepted: boolean;
}

/** Returns the conditions for sealing set-aside chains again, by owner. */
export function expectedOf(set_aside: readonly SetAside[]): Map<string, Expected> {
  return new Map(set_aside.map((aside) => [aside.owner, { end: endOf(aside), accepted: aside.accepted }]));
}

/**
 * Checks that the stored heads of chains are the sealed ones, before new entries are sealed on top. Otherwise
 * the next checkpoint would sign a chain that somebody rebuilt or cut in the database.
 */
export class SealedState {
  readonly lastWrites = new LastWrites();
  readonly #database: Database;
  /** Checkpoints that were verified, as canonical JSON. */
  readonly #known = new Set<string>();
  readonly #nodes = new NodeCache();
  readonly #tree: CheckpointTree;
  /** The signature of the marks that were verified last, followed by the signed text. */
  #marks = "";
  #keys: SigningJwk[] = [];

  constructor(database: Database) {
    this.#database = database;
    this.#tree = new CheckpointTree(database, {
      keys: () => selectSigningKeys(database),
      firstSigned: () => selectFirstSigned(database),
      isSigned: (checkpoint) => this.#isSigned(checkpoint),
    });
  }

  /** Returns whether a key of this log signed the marks of a state, or no key ever signed marks. */
  async areMarksSigned(state: SealerState): Promise<boolean> {
    const { marks, marks_signed } = state;
    if (marks === null) return !marks_signed;
    const text = marksText(state);
    if (this.#marks === `${marks} ${text}`) return true;
    const key = await this.#keyOf(signerOf(marks));
    if (key === null || (await signedTextOf(marks, MARKS_TYPE, key)) !== text) return false;
    this.#marks = `${marks} ${text}`;
    return true;
  }

  async #keyOf(kid: string | null): Promise<SigningJwk | null> {
    const known = this.#keys.find((key) => key.kid === kid);
    if (known !== undefined) return known;
    this.#keys = await selectSigningKeys(this.#database);
    return this.#keys.find((key) => key.kid === kid) ?? null;
  }

  /**
   * Checks that a key of this log signed the newest checkpoint.
   *
   * @throws LogAltered if no key of this log signed it
   */
  async checkNewest(checkpoint: Checkpoint | null): Promise<void> {
    if (checkpoint === null || (await this.#isSigned(checkpoint))) return;
    throw new LogAltered(`Checkpoint ${checkpoint.number} is not signed by a key of this log`);
  }

  /**
   * Returns the map of heads that the newest checkpoint signs. Reads only the nodes that lead to these owners.
   *
   * @throws LogAltered if no key of this log signed the checkpoint, or if the root of its map is gone
   */
  async openMap(newest: Checkpoint | null, owners: readonly string[]): Promise<HeadMap> {
    await this.checkNewest(newest);
    const root = newest?.map === undefined ? null : rootOf(newest.number, newest.map);
    const map = await HeadMap.open(this.#database, this.#nodes, root, owners);
    if (map.isLost) throw new LogAltered(`The map of checkpoint ${newest?.number} is not what was signed`);
    return map;
  }

  /**
   * Returns the leaves that a pass adds to the tree of checkpoints, and its signed root.
   *
   * @throws LogAltered if the stored tree differs from its signed root, or if a checkpoint without a leaf is missing,
   * unsigned or out of order
   */
  async growTree(
    state: SealerState,
    next: Checkpoint | null,
    signer: { key: SigningKey | null; origin: string },
  ): Promise<TreeWrite> {
    try {
      return await this.#tree.grow(state, state.checkpoint, next, signer);
    } catch (error) {
      throw error instanceof TreeAltered ? new LogAltered(error.message) : error;
    }
  }

  /**
   * Returns the chains whose row contradicts the newest checkpoint's map of heads, or the head that this
   * process or the database remembers.
   */
  async alteredOf(
    chains: readonly ChainRow[],
    map: HeadMap,
    expected: ReadonlyMap<string, Expected> = new Map(),
  ): Promise<AlteredChain[]> {
    const altered: AlteredChain[] = [];
    for (const chain of chains) {
      const { owner } = chain;
      const { end, accepted } = expected.get(owner) ?? {
        end: this.lastWrites.headOf(owner),
        accepted: false,
      };
      const reason = accepted
        ? await this.#inconsistency(chain, map)
        : ((await this.#contradiction(chain, map)) ?? (end && (await setBackOf(this.#database, chain, end))));
      if (reason !== null) altered.push({ owner, reason, ...(end ?? sealedEnd(map, owner)) });
    }
    return altered;
  }

  /** Returns the reason why a chain's row contradicts the signed checkpoints, or null if it does not. */
  async #contradiction(row: ChainRow, map: HeadMap): Promise<string | null> {
    if (row.goes_on) return "the chain has entries after its end";
    const head = map.headOf(row.owner);
    if (head === "lost") return LOST_WAY;
    if (head === null) return this.#outsideMap(row);
    if (row.position !== head.position) {
      return `the chain ends at position ${row.position}, and position ${head.position} was sealed`;
    }
    return row.chain === hexOf(head.chain)
      ? null
      : `the hash at position ${head.position} differs from the sealed one`;
  }

  /**
   * Returns the reason why a chain outside the map contradicts the older checkpoint that contains the chain's
   * head, or null if it does not.
   */
  async #outsideMap({ owner, position, chain, inclusion, checkpoint }: ChainRow): Promise<string | null> {
    if (chain === null) return null;
    if (inclusion === null) return "no checkpoint contains the end of the chain";
    if (checkpoint === null) return "the checkpoint that contains the end of the chain is gone";
    const held = checkpointOf(checkpoint);
    if (!(await this.#isSigned(held))) return `checkpoint ${held.number} is not signed by a key of this log`;
    const leaf = headLeaf({ owner, position, chain: hashFromHex(chain) });
    const holds = held.heads !== undefined && isIncluded(leaf, inclusion, hashFromHex(held.heads));
    return holds ? null : `the chain does not end as checkpoint ${held.number} says`;
  }

  /** Returns the reason why the row of an accepted chain contradicts the chain's entries, or null if it does not. */
  async #inconsistency(row: ChainRow, map: HeadMap): Promise<string | null> {
    if (row.goes_on) return "the chain has entries after its end";
    if (map.headOf(row.owner) === "lost") return LOST_WAY;
    if (row.chain === null) return null;
    const found = await selectChainAt(this.#database, row.id, row.position);
    return found === row.chain ? null : "the row and the last entry of the chain have different hashes";
  }

  async #isSigned(checkpoint: Checkpoint): Promise<boolean> {
    // compares all fields, because a row can have the signature of another checkpoint
    const text = canonicalJson(checkpoint);
    if (this.#known.has(text)) return true;
    if (!(await this.#isRight(checkpoint))) return false;
    if (this.#known.size >= CHECKPOINTS_MAX) this.#known.clear();
    this.#known.add(text);
    return true;
  }

  async #isRight(checkpoint: Checkpoint): Promise<boolean> {
    let problem = await checkpointProblem(checkpoint, this.#keys);
    if (problem === "unknown_key") {
      this.#keys = await selectSigningKeys(this.#database);
      problem = await checkpointProblem(checkpoint, this.#keys);
    }
    if (problem !== "unsigned") return problem === null;
    // The operator may add a signing key later, so checkpoints before the first signed one are right without one.
    const first = await selectFirstSigned(this.#database);
    return first === null || checkpoint.number < first;
  }
}
