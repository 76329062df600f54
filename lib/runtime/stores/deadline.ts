import { withDeadline } from "../../async/index.ts";
import { StoreUnavailable } from "./errors.ts";

/** What `work` comes to, or a rejection with `StoreUnavailable` when that takes longer than `timeout_ms`. */
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
