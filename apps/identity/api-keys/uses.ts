/** A validation that found a key valid. */
export interface KeyUse {
  readonly id: string;
  readonly at_ms: number;
  /** The hash under which to store the secret from now on, if it differs from the stored one. */
  readonly new_hash?: string;
}

/**
 * The limit for keys that wait. The use of a further key is dropped; its next validation notes another use.
 */
const WAITING_MAX = 100_000;
/**
 * The keys of one statement. The statement locks their rows for some milliseconds, for which a revocation may
 * wait.
 */
const BATCH_KEYS = 500;

/**
 * The last use of each valid key that is not stored yet. A validation notes a use here without waiting; the
 * use stays until it is stored.
 */
export class KeyUses {
  readonly #last = new Map<string, KeyUse>();

  get waiting(): number {
    return this.#last.size;
  }

  note(use: KeyUse): void {
    const known = this.#last.get(use.id);
    if (known === undefined ? this.#last.size < WAITING_MAX : known.at_ms < use.at_ms) {
      this.#last.set(use.id, use);
    }
  }

  /** Returns all waiting uses, in batches of `BATCH_KEYS`. */
  batches(): KeyUse[][] {
    const all = [...this.#last.values()];
    const starts = Array.from({ length: Math.ceil(all.length / BATCH_KEYS) }, (_, part) => part * BATCH_KEYS);
    return starts.map((start) => all.slice(start, start + BATCH_KEYS));
  }

  /** Removes stored uses, except of keys with a newer use. */
  settle(stored: readonly KeyUse[]): void {
    for (const use of stored) if (this.#last.get(use.id) === use) this.#last.delete(use.id);
  }
}
