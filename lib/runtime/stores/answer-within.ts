import { withDeadline } from "../../async/index.ts";
import { StoreUnavailable } from "./errors.ts";

export function answerWithin<T>(
  timeoutMs: number,
  store: StoreUnavailable["store"],
  work: Promise<T>,
): Promise<T> {
  return withDeadline(
    work,
    timeoutMs,
    () => new StoreUnavailable(store, new Error(`No answer within ${timeoutMs} ms.`)),
  );
}
