const DEFAULT_POLL_MS = 20;
/** A condition that comes true at once on an idle machine takes many seconds on a busy one. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Polls `condition` until it returns something other than false, null or undefined, and resolves with that. A
 * condition that throws is not met yet. After `timeout_ms` it throws what it saw last. A shorter `poll_ms` is for
 * conditions that read a variable.
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
      const what = options.what ?? "The condition";
      throw new Error(`${what} did not come true in ${timeout_ms} ms; last seen: ${Bun.inspect(seen)}`);
    }
    await Bun.sleep(poll_ms);
  }
}
