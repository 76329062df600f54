import { StoreUnavailable } from "./errors.ts";

/**
 * `work`'s result, or `StoreUnavailable` when it takes longer than `timeout_ms`. The work itself goes on; what
 * it comes to then is nobody's concern any more.
 */
export function withDeadline<T>(
  store: StoreUnavailable["store"],
  work: Promise<T>,
  timeout_ms: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new StoreUnavailable(store, new Error(`No answer within ${timeout_ms} ms.`)));
    }, timeout_ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
