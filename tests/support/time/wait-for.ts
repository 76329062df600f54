const DEFAULT_POLL_MS = 20;
/** The default time limit. On a busy machine, a condition can take many seconds instead of milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Calls `condition` every `pollMs` until it returns something other than false, null or undefined. Resolves
 * with that value. A condition that throws is not met yet. After `timeoutMs`, rejects with the last value or
 * error.
 */
export async function waitFor<T>(
  condition: () => T | false | null | undefined | Promise<T | false | null | undefined>,
  options: { timeoutMs?: number; pollMs?: number; what?: string } = {},
): Promise<T> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let seen: unknown;
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) return value;
      seen = value;
    } catch (error) {
      seen = error;
    }
    if (performance.now() > deadline) {
      const what = options.what ?? "a condition";
      throw new Error(`Waited ${timeoutMs} ms for ${what}. The last value or error is: ${Bun.inspect(seen)}`);
    }
    await Bun.sleep(pollMs);
  }
}

/** Calls `look` until its result is positive and has not changed for half a second. Returns the result. */
export async function settled(look: () => number): Promise<number> {
  for (let last = -1, since = performance.now(); ; ) {
    const now = look();
    if (now !== last) {
      last = now;
      since = performance.now();
    } else if (now > 0 && performance.now() - since > 500) return now;
    await Bun.sleep(DEFAULT_POLL_MS);
  }
}
