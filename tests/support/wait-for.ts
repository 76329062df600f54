const DEFAULT_POLL_MS = 20;
/** The default time limit. On a busy machine, a condition can take many seconds instead of milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Calls `condition` every `poll_ms` until it returns something other than false, null or undefined. Resolves
 * with that value. A condition that throws is not met yet. After `timeout_ms`, rejects with the last value or
 * error.
 */
export async function waitFor<T>(
  condition: () => T | false | null | undefined | Promise<T | false | null | undefined>,
  options: { timeout_ms?: number; poll_ms?: number; what?: string } = {},
): Promise<T> {
  const { timeout_ms = DEFAULT_TIMEOUT_MS, poll_ms = DEFAULT_POLL_MS } = options;
  const deadline = performance.now() + timeout_ms;
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
      const what = options.what ?? "waitFor";
      throw new Error(
        `${what}: condition not met within ${timeout_ms} ms; last value or error: ${Bun.inspect(seen)}`,
      );
    }
    await Bun.sleep(poll_ms);
  }
}
