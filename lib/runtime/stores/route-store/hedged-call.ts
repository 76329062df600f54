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

export interface HedgedCall<Endpoint, T> extends CallTimes {
  /** Whom to ask, in this order, and again in this order while the call has time. */
  order: readonly Endpoint[];
  /** Asks one; to settle by `deadline`, in milliseconds since 1970. */
  attempt: (endpoint: Endpoint, deadline: number) => Promise<T>;
  /** Whether an error says nothing but that this endpoint could not answer. */
  isUnanswered: (error: Error) => boolean;
}

const RETRY_MS = 100;

/**
 * The first answer of several endpoints and whose it is. The next endpoint is asked when one fails or takes
 * long, none twice at a time. An error that is an answer ends the call; without any answer it is rejected with
 * `StoreUnavailable` once its time is over. What endpoints say after the end is not heard.
 */
export function hedgedCall<Endpoint, T>(
  call: HedgedCall<Endpoint, T>,
): Promise<{ value: T; endpoint: Endpoint }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ value: T; endpoint: Endpoint }>();
  const end = Date.now() + call.timeout_ms;
  const idle = [...call.order];
  let unasked = idle.length;
  let lastError: Error | undefined;
  let isOver = false;
  let next: ReturnType<typeof setTimeout> | undefined;
  const timeout = setTimeout(() => {
    const cause = lastError ?? new Error(`No answer within ${call.timeout_ms} ms.`);
    reject(new StoreUnavailable("route_store", cause));
  }, call.timeout_ms);

  const askIn = (pause_ms: number) => {
    clearTimeout(next);
    if (!isOver) next = setTimeout(askNext, pause_ms);
  };
  const askNext = () => {
    const endpoint = idle.shift();
    if (endpoint === undefined) return;
    unasked = Math.max(0, unasked - 1);
    if (idle.length > 0) askIn(call.hedge_ms);
    call.attempt(endpoint, Math.min(Date.now() + call.attempt_ms, end)).then(
      (value) => resolve({ value, endpoint }),
      (error) => {
        if (!call.isUnanswered(error)) return reject(error);
        lastError = error;
        idle.push(endpoint);
        askIn(unasked > 0 ? 0 : RETRY_MS);
      },
    );
  };
  askNext();
  return promise.finally(() => {
    isOver = true;
    clearTimeout(next);
    clearTimeout(timeout);
  });
}
