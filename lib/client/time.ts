/** The clocks that sessions use. Tests replace them. */
export const SYSTEM_TIME = {
  /** Milliseconds that only grow, but that may stand still while the machine sleeps. */
  monotonicMs: () => performance.now(),
  /** Milliseconds of the clock on the wall, which may jump. */
  wallMs: () => Date.now(),
};
export type Time = typeof SYSTEM_TIME;

/** Waits for `ms` milliseconds. Rejects with the reason of the signal when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () =>
    new Promise<void>((done) => {
      timer = setTimeout(done, ms);
    });
  await orAborted(signal, wait).finally(() => clearTimeout(timer));
}

/** Runs `work` and rejects with the reason of the signal as soon as the signal is aborted. */
export async function orAborted<Result>(
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { signal: ended.signal });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    ended.abort();
  }
}

/**
 * Starts a stopwatch, which returns the milliseconds since then. It reads both clocks: one stands still while the
 * machine sleeps, the other may be set back.
 */
export function stopwatch({ monotonicMs, wallMs }: Time): () => number {
  const [monotonic, wall] = [monotonicMs(), wallMs()];
  return () => Math.max(monotonicMs() - monotonic, wallMs() - wall);
}
