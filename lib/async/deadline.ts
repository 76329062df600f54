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
