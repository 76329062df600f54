import { Batches, type Clock, type Member, resolveEach, type SharedContext } from "@ostiary/lib/async";
import { fits } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import type { BoundedResponse } from "@ostiary/lib/runtime/bounded-call";
import type { Static, TArray, TObject, TSchema } from "@sinclair/typebox";

/** The calls for items of one kind: intents or outcomes. Only `together` may reject. */
interface WriteCalls<Item, Tried> {
  readonly itemsMax: number;
  alone(item: Item): Promise<Tried>;
  /** Sends several items in one call. Rejects if no complete response arrives. */
  together(items: readonly Item[]): Promise<BoundedResponse>;
  /** Returns the result for every item of a call whose response has `status`. */
  triedBy(status: number): Tried;
  /** Returns the result for every item of a call that got no response. */
  failedBy(error: unknown): Tried;
  /** Returns the results in the body of a 200, in the order of the items, or null for an invalid body. */
  resultsIn(text: string): readonly Tried[] | null;
}

export interface CallOptions {
  readonly clock?: Clock;
  /** Adds each call to the traces of the requests whose items the call sends. */
  readonly tracing?: SharedContext;
}

/** How long an item waits for the end of a call in flight, to which the audit service may never respond. */
const GATHER_MS = 5;

/**
 * Sends items in batches, without retries. A batch contains the items of one event-loop iteration, or the
 * items that arrived while a call was in flight. An item that is alone in its batch, and each item of a
 * refused batch, is sent in a separate call (GW-147).
 */
export class BatchedCalls<Item, Tried> {
  readonly #calls: WriteCalls<Item, Tried>;
  readonly #batches: Batches<Item, Tried>;

  constructor(calls: WriteCalls<Item, Tried>, { clock, tracing }: CallOptions = {}) {
    this.#calls = calls;
    const { itemsMax } = calls;
    const options = { itemsMax, waitMs: GATHER_MS, context: tracing, clock };
    this.#batches = new Batches((batch) => this.#settle(batch), options);
  }

  /** Sends `item` in a call that other items may share. Never rejects. */
  withOthers(item: Item): Promise<Tried> {
    return this.#batches.add(item);
  }

  /** Sends a batch. Resolves when the attempt to send each item has ended. */
  async #settle(batch: readonly Member<Item, Tried>[]): Promise<unknown> {
    if (batch.length === 1) return this.#sendAlone(batch);
    const send = (items: Item[]) => this.#calls.together(items).catch((error) => ({ error }));
    const response = await this.#batches.together(batch, send);
    if ("error" in response) return resolveAll(batch, this.#calls.failedBy(response.error));
    const { status, text } = response;
    const results = status === 200 ? this.#calls.resultsIn(text) : null;
    if (results?.length === batch.length) return resolveEach(batch, results);
    return status >= 500 ? resolveAll(batch, this.#calls.triedBy(status)) : this.#sendAlone(batch);
  }

  #sendAlone(batch: readonly Member<Item, Tried>[]): Promise<unknown> {
    const tried = batch.map((member) => {
      const trying = this.#batches.together([member], () => this.#calls.alone(member.item));
      member.resolve(trying);
      return trying;
    });
    return Promise.all(tried);
  }
}

function resolveAll<Tried>(batch: readonly Member<unknown, Tried>[], tried: Tried): void {
  for (const { resolve } of batch) resolve(tried);
}

/** Returns an implementation of {@link WriteCalls.resultsIn} for bodies that match `schema`. */
export function resultsReader<Result extends TSchema, Tried>(
  schema: TObject<{ results: TArray<Result> }>,
  triedBy: (result: Static<Result>) => Tried,
): (text: string) => Tried[] | null {
  return (text) => {
    const body = tryJson(text, JSON.parse);
    return fits(schema, body) ? body.results.map(triedBy) : null;
  };
}
