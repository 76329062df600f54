import { type Clock, systemClock } from "./clock.ts";

/**
 * What `work` comes to, or a rejection with `late()` when that takes longer than `timeout_ms`. The work itself
 * goes on then, and what it comes to is nobody's concern any more.
 */
export function withDeadline<T>(
  work: Promise<T>,
  timeout_ms: number,
  late: () => Error,
  clock: Clock = systemClock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeout_ms, () => reject(late()));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** Waits until `work` ends, well or not, for `timeout_ms` at most. Resolves with whether it did. */
export function endsWithin(
  work: Promise<unknown>,
  timeout_ms: number,
  clock: Clock = systemClock,
): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return withDeadline(ended, timeout_ms, () => new Error("It goes on."), clock).catch(() => false);
}
