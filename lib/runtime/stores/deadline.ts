import { withDeadline } from "../../async/index.ts";
import { StoreUnavailable } from "./errors.ts";

/** Settles like `work`, but rejects with `StoreUnavailable` if `work` takes longer than `timeout_ms`. */
export function answerWithin<T>(
  timeout_ms: number,
  store: StoreUnavailable["store"],
  work: Promise<T>,
): Promise<T> {
  return withDeadline(
    work,
    timeout_ms,
    () => new StoreUnavailable(store, new Error(`No answer within ${timeout_ms} ms.`)),
  );
}
