/** The use of a key: a validation that found the key valid. */
export interface LastUse {
  readonly id: string;
  readonly atMs: number;
  /** The hash under which to store the secret from now on, if it differs from the stored one. */
  readonly new_hash?: string;
}

/** The maximum number of keys with a use that is not stored yet. Uses of further keys are dropped. */
const WAITING_MAX = 100_000;
/** The maximum number of keys in one statement: few, because a revocation may wait for the statement's row locks. */
const BATCH_KEYS = 500;

/** The last use of each valid key, until the use is stored. Validations note uses here without waiting. */
export class LastUseBuffer {
  readonly #last = new Map<string, LastUse>();

  get waiting(): number {
    return this.#last.size;
  }

  note(use: LastUse): void {
    const known = this.#last.get(use.id);
    if (known === undefined ? this.#last.size < WAITING_MAX : known.atMs < use.atMs) {
      this.#last.set(use.id, use);
    }
  }

  /** Returns all waiting uses, in batches of `BATCH_KEYS`. */
  batches(): LastUse[][] {
    const all = [...this.#last.values()];
    const starts = Array.from({ length: Math.ceil(all.length / BATCH_KEYS) }, (_, part) => part * BATCH_KEYS);
    return starts.map((start) => all.slice(start, start + BATCH_KEYS));
  }

  /** Removes stored uses, unless a newer use of the same key was noted. */
  settle(stored: readonly LastUse[]): void {
    for (const use of stored) if (this.#last.get(use.id) === use) this.#last.delete(use.id);
  }
}
