/** When a key was found valid. */
export interface KeyUse {
  readonly id: string;
  readonly at_ms: number;
  /** What its secret is to be stored under from now on, when that is not what it is stored under. */
  readonly new_hash?: string;
}

/** Keys whose last use waits to be stored; those beyond are told of by their next validation. */
const WAITING_MAX = 100_000;
/** Keys of one statement: it holds their rows for some milliseconds, for which a revocation may have to wait. */
const BATCH_KEYS = 500;

/**
 * The last use of each key that was found valid and is not stored yet. A validation notes it here, which costs it
 * nothing that waits; what is noted stays until it is stored.
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

  /** All that wait now, in parts of `BATCH_KEYS`. */
  batches(): KeyUse[][] {
    const all = [...this.#last.values()];
    const starts = Array.from({ length: Math.ceil(all.length / BATCH_KEYS) }, (_, part) => part * BATCH_KEYS);
    return starts.map((start) => all.slice(start, start + BATCH_KEYS));
  }

  /** `stored` no longer wait, but for keys that were used again meanwhile. */
  settle(stored: readonly KeyUse[]): void {
    for (const use of stored) if (this.#last.get(use.id) === use) this.#last.delete(use.id);
  }
}
