import { type Clock, systemClock, withDeadline } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** The timeout of a call, and the times after which it tries further endpoints. */
export interface CallTimes {
  /** The timeout of the whole call. */
  timeout_ms: number;
  /** The timeout of one attempt. The call may then ask its endpoint again. */
  attempt_ms: number;
  /** The time without an answer after which the call also asks the next endpoint. */
  hedge_ms: number;
}

/** The meaning of an error: the endpoint answered, it could not answer, or nothing listens there. */
export type Verdict = "answered" | "unanswered" | "refused";

export interface HedgedCall<Endpoint, T> extends CallTimes {
  /** The endpoints in the order of attempts. The order repeats while the call has time. */
  order: readonly Endpoint[];
  /** Asks one endpoint. The attempt must settle by `deadline`, in milliseconds since the epoch. */
  attempt: (endpoint: Endpoint, deadline: number) => Promise<T>;
  verdictOn: (error: Error) => Verdict;
  clock?: Clock;
}

const RETRY_MS = 100;

/**
 * Returns the first answer of several endpoints, and its endpoint. The next endpoint is asked when one fails
 * or is slow; no endpoint has two attempts at once. An error with the verdict `answered` ends the call.
 * Without an answer the call rejects with `StoreUnavailable` at its timeout, or once every endpoint has
 * refused the connection. Later answers are ignored.
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
