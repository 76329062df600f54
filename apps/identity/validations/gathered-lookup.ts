import { TurnBatch } from "@ostiary/lib/async";

interface Wanted<Row> {
  readonly key: string;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

const KEYS_MAX = 100;

/** Rows by their keys, with one query for all that are wanted in one turn of the event loop. */
export class GatheredLookup<Row> {
  readonly #batch: TurnBatch<Wanted<Row>>;
  readonly #findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

  constructor(findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
    this.#findAll = findAll;
    this.#batch = new TurnBatch(KEYS_MAX, (wanted) => void this.#answer(wanted));
  }

  /** The row of `key`, null when there is none. Rejects when the query failed that was to find it. */
  find(key: string): Promise<Row | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Row | null>();
    this.#batch.add({ key, resolve, reject });
    return promise;
  }

  async #answer(wanted: readonly Wanted<Row>[]): Promise<void> {
    try {
      const found = await this.#findAll(wanted.map(({ key }) => key));
      for (const { key, resolve } of wanted) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
