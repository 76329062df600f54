/** The clocks that sessions use. Tests replace them. */
export interface Time {
  /** Milliseconds that only grow, but that may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Milliseconds of the clock on the wall, which may jump. */
  wallMs(): number;
}

export const SYSTEM_TIME: Time = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

/** Waits for `ms` milliseconds. Rejects with the reason of the signal when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return orAborted(
    signal,
    (onEnd) =>
      new Promise((done) => {
        const timer = setTimeout(done, ms);
        onEnd(() => clearTimeout(timer));
      }),
  );
}

/**
 * Runs `work` and rejects with the reason of the signal as soon as the signal is aborted. `onEnd` takes what
 * to release at the end.
 */
export async function orAborted<Result>(
  signal: AbortSignal | undefined,
  work: (onEnd: (release: () => void) => void) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const releases: (() => void)[] = [];
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    releases.push(() => signal?.removeEventListener("abort", onAbort));
  });
  try {
    return await Promise.race([work((release) => releases.push(release)), aborted]);
  } finally {
    for (const release of releases) release();
  }
}

/** Measures how long ago something was, by two readings of the same clock. */
export class Age {
  readonly #time: Time;
  readonly #monotonicMs: number;
  readonly #wallMs: number;

  constructor(time: Time) {
    this.#time = time;
    this.#monotonicMs = time.monotonicMs();
    this.#wallMs = time.wallMs();
  }

  /** The larger age of both clocks: one stands still while the machine sleeps, the other may be set back. */
  get ms(): number {
    return Math.max(this.#time.monotonicMs() - this.#monotonicMs, this.#time.wallMs() - this.#wallMs);
  }
}
