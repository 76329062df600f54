import { type Checkpoint, checkpointText } from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { selectChainAt } from "./altered-sql.ts";
import type { ChainRow } from "./chain-sql.ts";
import type { HeadWrite } from "./pass-sql.ts";

/** The maximum number of heads that a sealer remembers. The sealer keeps the heads that moved last. */
const HEADS_MAX = 100_000;

/** The head of a chain, as a sealer wrote it. */
export type End = Pick<HeadWrite, "position" | "chain">;

/**
 * The checkpoint and the heads that this process wrote last. Nothing else reveals that the database was set
 * back to an earlier state, which is valid in itself (AU-80).
 */
export class LastWrites {
  readonly #heads = new Map<string, End>();
  #checkpoint: Checkpoint | null = null;

  /** Remembers the heads and the checkpoint that a pass wrote. */
  remember(heads: readonly HeadWrite[], checkpoint: Checkpoint | null): void {
    if (checkpoint !== null) this.#checkpoint = checkpoint;
    for (const { owner, position, chain } of heads) {
      this.#heads.delete(owner);
      this.#heads.set(owner, { position, chain });
    }
    for (const owner of this.#heads.keys()) {
      if (this.#heads.size <= HEADS_MAX) break;
      this.#heads.delete(owner);
    }
  }

  /** Forgets the head of an altered chain. The database records that the chain was altered. */
  forget(owner: string): void {
    this.#heads.delete(owner);
  }

  /** Returns the remembered head of a chain, or null. */
  headOf(owner: string): End | null {
    return this.#heads.get(owner) ?? null;
  }

  /**
   * Returns the number of the checkpoint that this process wrote last, if the database no longer has it;
   * otherwise null. The database was then restored from an older state, or a standby without the checkpoint
   * was promoted. Forgets everything in that case.
   */
  setBackFrom(newest: Checkpoint | null): number | null {
    const last = this.#checkpoint;
    if (last === null) return null;
    const holds =
      newest !== null &&
      (newest.number > last.number ||
        (newest.number === last.number && checkpointText(newest) === checkpointText(last)));
    if (holds) return null;
    this.#checkpoint = null;
    this.#heads.clear();
    return last.number;
  }
}

/** Returns the reason why a chain does not continue from the written head `end`, or null if it does. */
export async function setBackOf(database: Database, row: ChainRow, end: End): Promise<string | null> {
  if (row.position < end.position) {
    return `the chain ends at position ${row.position}, and position ${end.position} was sealed`;
  }
  const chain =
    row.position === end.position ? row.chain : await selectChainAt(database, row.id, end.position);
  return chain === end.chain ? null : `the hash at position ${end.position} differs from the sealed one`;
}
