import type { WindowCount } from "./counter-store.ts";

/** Counts in each bucket; resolves with count and milliseconds left of each, one after the other. */
export type SendCounts = (buckets: readonly string[], windows_ms: readonly number[]) => Promise<number[]>;

interface Batch {
  readonly buckets: string[];
  readonly windows_ms: number[];
  readonly answers: Promise<number[]>;
}

/**
 * Lets the counts of one turn of the event loop travel as one command, at most `size_max` of them: under load a
 * count of its own costs the client and the server several times what it costs among others.
 */
export class CountBatch {
  readonly #send: SendCounts;
  readonly #size_max: number;
  /** What more counts can join. */
  #open: Batch | null = null;

  constructor(send: SendCounts, size_max: number) {
    this.#send = send;
    this.#size_max = size_max;
  }

  /** Rejects when the whole command failed, or this bucket could not be counted. */
  async count(bucket: string, window_ms: number): Promise<WindowCount> {
    const batch = this.#open ?? this.#begin();
    const at = 2 * (batch.buckets.push(bucket) - 1);
    batch.windows_ms.push(window_ms);
    if (batch.buckets.length >= this.#size_max) this.#open = null;
    const answers = await batch.answers;
    const [count = 0, ttl_ms = 0] = [answers[at], answers[at + 1]];
    if (count < 1) throw new Error("The bucket's key holds something that is no count.");
    return { count, ttl_ms: ttl_ms > 0 ? ttl_ms : 1 };
  }

  #begin(): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const batch: Batch = {
      buckets: [],
      windows_ms: [],
      answers: promise.then(() => this.#send(batch.buckets, batch.windows_ms)),
    };
    this.#open = batch;
    setImmediate(() => {
      if (this.#open === batch) this.#open = null;
      resolve();
    });
    return batch;
  }
}
