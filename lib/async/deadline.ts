import { type Clock, systemClock } from "./clock.ts";

/** Settles like `work`, or rejects with the error of `late` after `timeoutMs`. A timeout does not stop `work`. */
export function withDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  late: () => Error,
  clock: Clock = systemClock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(late()));
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

/** Waits until `work` settles, at most `timeoutMs`. Resolves with true when `work` settled in time. */
export function endsWithin(
  work: Promise<unknown>,
  timeoutMs: number,
  clock: Clock = systemClock,
): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return withDeadline(ended, timeoutMs, () => new Error("The work has not ended."), clock).catch(() => false);
}
