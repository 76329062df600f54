import { Batches, type Member, rejectEach, type SharedContext } from "@ostiary/lib/async";

const KEYS_MAX = 100;

/** Looks up rows by key. One query finds up to {@link KEYS_MAX} keys that are requested in one event-loop iteration. */
export class BatchedLookup<Row> {
  readonly #batches: Batches<string, Row | null>;
  readonly #findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

  /** @param context adds a shared query to the trace of each request that waits for the query */
  constructor(
    findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
    context?: SharedContext,
  ) {
    this.#findAll = findAll;
    this.#batches = new Batches((wanted) => this.#resolve(wanted), { itemsMax: KEYS_MAX, context });
  }

  /** Returns the row of `key`, or null if there is no row. Rejects when the query fails. */
  find(key: string): Promise<Row | null> {
    return this.#batches.add(key);
  }

  async #resolve(wanted: readonly Member<string, Row | null>[]): Promise<void> {
    try {
      const found = await this.#batches.together(wanted, this.#findAll);
      for (const { item, resolve } of wanted) resolve(found.get(item) ?? null);
    } catch (error) {
      rejectEach(wanted, error);
    }
  }
}
