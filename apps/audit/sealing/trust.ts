import {
  type Checkpoint,
  checkpointFault,
  checkpointText,
  hashFromHex,
  headLeaf,
  isIncluded,
  type SigningJwk,
} from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { checkpointOf, selectFirstSigned, selectSigningKeys } from "../checkpoints/queries.ts";
import type { ChainRow } from "./queries.ts";

/** What the database holds is not what was sealed: nothing is sealed on top of it. */
export class LogAltered extends Error {
  constructor(what: string) {
    super(`${what}. Somebody has altered the log; nothing more is sealed until it is restored.`);
    this.name = "LogAltered";
  }
}

const CHECKPOINTS_MAX = 10_000;

/**
 * Looks whether what is about to be sealed on top of is what was sealed before: otherwise a chain that somebody has
 * rebuilt in the database would be signed with its next entry.
 */
export class SealedState {
  readonly #database: Database;
  /** Texts of checkpoints that have been found right. */
  readonly #known = new Set<string>();
  #keys: SigningJwk[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws LogAltered */
  async check(newest: Checkpoint | null, chains: readonly ChainRow[]): Promise<void> {
    if (newest !== null) await this.#checkCheckpoint(newest);
    for (const chain of chains) await this.#checkChain(chain);
  }

  async #checkChain({ owner, position, chain, inclusion, checkpoint }: ChainRow): Promise<void> {
    if (chain === null) return;
    const altered = new LogAltered(`The chain of ${owner} does not end as its checkpoint says`);
    if (inclusion === null || checkpoint === null) throw altered;
    const held = checkpointOf(checkpoint);
    await this.#checkCheckpoint(held);
    const leaf = headLeaf({ owner, position, chain: hashFromHex(chain) });
    if (!isIncluded(leaf, inclusion, hashFromHex(held.heads))) throw altered;
  }

  async #checkCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const text = checkpointText(checkpoint);
    if (this.#known.has(text)) return;
    if (!(await this.#isRight(checkpoint))) {
      throw new LogAltered(`Checkpoint ${checkpoint.number} is not signed by a key of this log`);
    }
    if (this.#known.size >= CHECKPOINTS_MAX) this.#known.clear();
    this.#known.add(text);
  }

  async #isRight(checkpoint: Checkpoint): Promise<boolean> {
    let fault = await checkpointFault(checkpoint, this.#keys);
    if (fault === "unknown_key") {
      this.#keys = await selectSigningKeys(this.#database);
      fault = await checkpointFault(checkpoint, this.#keys);
    }
    if (fault !== "unsigned") return fault === null;
    // a log may have got its key later; what was unsigned until then stays so
    const first = await selectFirstSigned(this.#database);
    return first === null || checkpoint.number < first;
  }
}
