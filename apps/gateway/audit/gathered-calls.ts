import { type Clock, systemClock } from "@ostiary/lib/async";
import { fits } from "@ostiary/lib/domain/errors";
import type { HeldTraces, SharedWorkTracing } from "@ostiary/lib/runtime/telemetry";
import type { Static, TArray, TObject, TSchema } from "@sinclair/typebox";
import type { BoundedAnswer } from "../upstream/bounded-call.ts";

/** How writes of one kind are sent. What these give never rejects, but for {@link WriteCalls.together}. */
export interface WriteCalls<Item, Tried> {
  /** Items that one call may have. */
  readonly items_max: number;
  /** Sends one by the call that every audit service takes. */
  alone(item: Item): Promise<Tried>;
  /** Sends several by one call; rejects when no whole answer came. */
  together(items: readonly Item[]): Promise<BoundedAnswer>;
  /** What a status that is given for all means to each. */
  triedBy(status: number): Tried;
  /** What it means to each that no answer came. */
  failedBy(error: unknown): Tried;
  /** What became of each by the body of a 200, in their order; null when it does not say so. */
  resultsIn(text: string): readonly Tried[] | null;
}

interface Waiting<Item, Tried> {
  readonly item: Item;
  readonly resolve: (tried: Tried | Promise<Tried>) => void;
  /** The request that it is written for, where that is traced. */
  readonly held: HeldTraces;
}

export interface CallOptions {
  readonly clock?: Clock;
  /** Where traces are exported: a call is part of the trace of each request that it is made for. */
  readonly tracing?: SharedWorkTracing;
}

/** What waits while a call is under way goes after this time all the same: the call may be a silent one. */
const GATHER_MS = 5;

/**
 * Tries to write items, each once. Those that come in one turn of the event loop travel together, and so do those
 * that come while a call is under way. An audit service that takes no such calls gets single ones.
 */
export class GatheredCalls<Item, Tried> {
  readonly #calls: WriteCalls<Item, Tried>;
  readonly #clock: Clock;
  readonly #tracing: CallOptions["tracing"];
  #gathered: Waiting<Item, Tried>[] = [];
  #underway = 0;
  #cancelTimer = () => {};
  /** Whether the service takes several at once; null: not known yet. */
  #takesSeveral: boolean | null = null;

  constructor(calls: WriteCalls<Item, Tried>, { clock = systemClock, tracing }: CallOptions = {}) {
    this.#calls = calls;
    this.#clock = clock;
    this.#tracing = tracing;
  }

  /** Never rejects. */
  withOthers(item: Item): Promise<Tried> {
    if (this.#takesSeveral === false) return this.#calls.alone(item);
    return new Promise((resolve) => {
      const gathered = this.#gathered.push({ item, resolve, held: this.#tracing?.held() });
      if (gathered === this.#calls.items_max) this.#send();
      else if (gathered === 1) this.#sendSoon(this.#gathered);
    });
  }

  #sendSoon(gathered: readonly Waiting<Item, Tried>[]): void {
    const send = () => {
      if (this.#gathered === gathered) this.#send();
    };
    if (this.#underway === 0) setImmediate(send);
    else this.#cancelTimer = this.#clock.after(GATHER_MS, send);
  }

  #send(): void {
    this.#cancelTimer();
    const batch = this.#gathered;
    this.#gathered = [];
    this.#underway++;
    void this.#settle(batch).then(() => {
      this.#underway--;
      if (this.#underway === 0 && this.#gathered.length > 0) this.#send();
    });
  }

  /** Resolves once each of the batch has been tried. */
  async #settle(batch: readonly Waiting<Item, Tried>[]): Promise<unknown> {
    // one alone goes by the call that all services take, until this one is known to take the other
    if (batch.length === 1 && this.#takesSeveral !== true) return this.#sendAlone(batch);
    const send = () => this.#calls.together(batch.map(({ item }) => item)).catch((error) => ({ error }));
    const answer = await this.#traced(batch, send);
    if ("error" in answer) return resolveAll(batch, this.#calls.failedBy(answer.error));
    const { status, text } = answer;
    const results = status === 200 ? this.#calls.resultsIn(text) : null;
    if (results?.length === batch.length) {
      this.#takesSeveral = true;
      return resolveEach(batch, results);
    }
    if (status >= 500 && this.#takesSeveral) return resolveAll(batch, this.#calls.triedBy(status));
    if (!isAboutItems(status)) this.#takesSeveral = false;
    return this.#sendAlone(batch);
  }

  #traced<T>(batch: readonly Waiting<Item, Tried>[], work: () => T): T {
    if (this.#tracing === undefined) return work();
    return this.#tracing.together(
      batch.map(({ held }) => held),
      work,
    );
  }

  #sendAlone(batch: readonly Waiting<Item, Tried>[]): Promise<unknown> {
    const tried = batch.map((waiting) => {
      const { item, resolve } = waiting;
      const trying = this.#traced([waiting], () => this.#calls.alone(item));
      resolve(trying);
      return trying;
    });
    return Promise.all(tried);
  }
}

/** 413, and a service that fails. Whatever else is no list of results comes from one without such calls. */
function isAboutItems(status: number): boolean {
  return status === 413 || (status >= 500 && status !== NOT_IMPLEMENTED);
}

const NOT_IMPLEMENTED = 501;

function resolveAll<Tried>(batch: readonly Waiting<unknown, Tried>[], tried: Tried): void {
  for (const { resolve } of batch) resolve(tried);
}

function resolveEach<Tried>(batch: readonly Waiting<unknown, Tried>[], results: readonly Tried[]): void {
  for (const [index, tried] of results.entries()) batch[index]?.resolve(tried);
}

/** Reads what {@link WriteCalls.resultsIn} reads, from a body of the shape of `schema`. */
export function resultsReader<Result extends TSchema, Tried>(
  schema: TObject<{ results: TArray<Result> }>,
  triedBy: (result: Static<Result>) => Tried,
): (text: string) => Tried[] | null {
  return (text) => {
    try {
      const body: unknown = JSON.parse(text);
      return fits(schema, body) ? body.results.map(triedBy) : null;
    } catch {
      return null; // not JSON
    }
  };
}
