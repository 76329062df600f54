import { type Clock, systemClock, withDeadline } from "@ostiary/lib/async";
import { StoreUnavailable } from "../errors.ts";

/** How long a call may take, and when it no longer relies on one endpoint. */
export interface CallTimes {
  /** For the whole call. */
  timeout_ms: number;
  /** For one attempt, after which its endpoint may be asked again. */
  attempt_ms: number;
  /** Without an answer for so long, the next endpoint is asked as well. */
  hedge_ms: number;
}

/** What an error says of the endpoint: it answered, it could not, or nobody listens there. */
export type Verdict = "answered" | "unanswered" | "refused";

export interface HedgedCall<Endpoint, T> extends CallTimes {
  /** Whom to ask, in this order, and again in this order while the call has time. */
  order: readonly Endpoint[];
  /** Asks one; to settle by `deadline`, in milliseconds since 1970. */
  attempt: (endpoint: Endpoint, deadline: number) => Promise<T>;
  verdictOn: (error: Error) => Verdict;
  clock?: Clock;
}

const RETRY_MS = 100;

/**
 * The first answer of several endpoints and whose it is. The next endpoint is asked when one fails or takes
 * long, none twice at a time. An error that is an answer ends the call; without any answer it is rejected with
 * `StoreUnavailable` once its time is over, or once nobody listened at any endpoint. What endpoints say after the
 * end is not heard.
 */
export function hedgedCall<Endpoint, T>(
  call: HedgedCall<Endpoint, T>,
): Promise<{ value: T; endpoint: Endpoint }> {
  const { clock = systemClock } = call;
  const { promise, resolve, reject } = Promise.withResolvers<{ value: T; endpoint: Endpoint }>();
  const end = clock.now() + call.timeout_ms;
  const idle = [...call.order];
  const refusing = new Set<Endpoint>();
  let unasked = idle.length;
  let lastError: Error | undefined;
  let isOver = false;
  let cancelNext = () => {};
  const unavailable = () =>
    new StoreUnavailable("route_store", lastError ?? new Error(`No answer within ${call.timeout_ms} ms.`));

  const askIn = (pause_ms: number) => {
    cancelNext();
    if (!isOver) cancelNext = clock.after(pause_ms, askNext);
  };
  const askNext = () => {
    const endpoint = idle.shift();
    if (endpoint === undefined) return;
    unasked = Math.max(0, unasked - 1);
    refusing.delete(endpoint);
    if (idle.length > 0) askIn(call.hedge_ms);
    call.attempt(endpoint, Math.min(clock.now() + call.attempt_ms, end)).then(
      (value) => resolve({ value, endpoint }),
      (error) => {
        const verdict = call.verdictOn(error);
        if (verdict === "answered") return reject(error);
        lastError = error;
        if (verdict === "refused") refusing.add(endpoint);
        if (refusing.size === call.order.length) return reject(unavailable());
        idle.push(endpoint);
        askIn(unasked > 0 ? 0 : RETRY_MS);
      },
    );
  };
  askNext();
  return withDeadline(promise, call.timeout_ms, unavailable, clock).finally(() => {
    isOver = true;
    cancelNext();
  });
}
