import { type Clock, systemClock, withDeadline } from "../../../async/index.ts";
import { StoreUnavailable } from "../errors.ts";

/** The timeouts of a call that can go to several endpoints. */
export interface CallTimes {
  /** The timeout of the whole call. */
  timeoutMs: number;
  /** The timeout of one attempt. After this time, the call may try the same endpoint again. */
  attemptMs: number;
  /** The time without a response after which the call also goes to the next endpoint. */
  hedgeMs: number;
}

/**
 * The meaning of an attempt's error: the endpoint responded, it did not respond, or it refused the
 * connection.
 */
export type Verdict = "answered" | "unanswered" | "refused";

export interface HedgedCall<Endpoint, T> extends CallTimes {
  /** The endpoints in the order of attempts. The order repeats until the call times out. */
  order: readonly Endpoint[];
  /**
   * Makes an attempt at one endpoint. The attempt must settle by `deadline`, in milliseconds since the epoch.
   */
  attempt: (endpoint: Endpoint, deadline: number) => Promise<T>;
  verdictOn: (error: Error) => Verdict;
  clock?: Clock;
}

const RETRY_MS = 100;

/**
 * Returns the first response of several endpoints, and the endpoint that sent it. If an endpoint fails or is
 * slow, the call goes to the next endpoint; no endpoint has two attempts at the same time. An error with the
 * verdict `answered` ends the call. The call rejects with `StoreUnavailable` at its timeout, or as soon as
 * all endpoints have refused the connection. Later responses are ignored.
 */
export function hedgedCall<Endpoint, T>(
  call: HedgedCall<Endpoint, T>,
): Promise<{ value: T; endpoint: Endpoint }> {
  const { clock = systemClock } = call;
  const { promise, resolve, reject } = Promise.withResolvers<{ value: T; endpoint: Endpoint }>();
  const endMs = clock.elapsedMs() + call.timeoutMs;
  const idle = [...call.order];
  const refusing = new Set<Endpoint>();
  let unasked = idle.length;
  let lastError: Error | undefined;
  let isOver = false;
  let cancelNext = () => {};
  const unavailable = () =>
    new StoreUnavailable("route_store", lastError ?? new Error(`No answer within ${call.timeoutMs} ms.`));

  const askIn = (pauseMs: number) => {
    cancelNext();
    if (!isOver) cancelNext = clock.after(pauseMs, askNext);
  };
  const askNext = () => {
    const endpoint = idle.shift();
    if (endpoint === undefined) return;
    unasked = Math.max(0, unasked - 1);
    refusing.delete(endpoint);
    if (idle.length > 0) askIn(call.hedgeMs);
    const leftMs = Math.min(call.attemptMs, endMs - clock.elapsedMs());
    call.attempt(endpoint, clock.now() + leftMs).then(
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
  return withDeadline(promise, call.timeoutMs, unavailable, clock).finally(() => {
    isOver = true;
    cancelNext();
  });
}
