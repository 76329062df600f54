import { TurnBatch } from "@ostiary/lib/async";
import type { HeldTraces, SharedWorkTracing } from "@ostiary/lib/runtime/telemetry";

interface Wanted<Row> {
  readonly key: string;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
  /** The request that it is wanted for, where that is traced. */
  readonly held: HeldTraces;
}

const KEYS_MAX = 100;

/** Rows by their keys, with one query for all that are wanted in one turn of the event loop. */
export class GatheredLookup<Row> {
  readonly #batch: TurnBatch<Wanted<Row>>;
  readonly #findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>;

  readonly #tracing: SharedWorkTracing | undefined;

  /** @param tracing where traces are exported: a query is part of the trace of each request that it is made for */
  constructor(
    findAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
    tracing?: SharedWorkTracing,
  ) {
    this.#findAll = findAll;
    this.#tracing = tracing;
    this.#batch = new TurnBatch(KEYS_MAX, (wanted) => void this.#answer(wanted));
  }

  /** The row of `key`, null when there is none. Rejects when the query failed that was to find it. */
  find(key: string): Promise<Row | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Row | null>();
    this.#batch.add({ key, resolve, reject, held: this.#tracing?.held() });
    return promise;
  }

  #query(wanted: readonly Wanted<Row>[]): Promise<ReadonlyMap<string, Row>> {
    const query = () => this.#findAll(wanted.map(({ key }) => key));
    if (this.#tracing === undefined) return query();
    return this.#tracing.together(
      wanted.map(({ held }) => held),
      query,
    );
  }

  async #answer(wanted: readonly Wanted<Row>[]): Promise<void> {
    try {
      const found = await this.#query(wanted);
      for (const { key, resolve } of wanted) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
