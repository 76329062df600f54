/** The time for which a stream retries before it pauses (AU-104). */
export const RETRY_MS_MAX = 72 * 60 * 60 * 1_000;
/** The pause after the first failure, before jitter. */
const PAUSE_MS_MIN = 1_000;
/** The maximum pause, before jitter. */
const PAUSE_MS_MAX = 15 * 60 * 1_000;
/** The largest share of a pause that jitter adds or removes. */
const JITTER = 0.25;
const GONE = 410;

/** The state of a stream after consecutive failures. */
export interface FailureState {
  /** The number of consecutive delivery requests that failed. */
  failures: number;
  /**
   * The time for which the stream has been failing: the sum of its pauses and of the durations of its requests. So
   * a step of the clock does not change this time.
   */
  failing_ms: number;
}

/** The plan for a stream after a delivery request failed. */
export interface RetryPlan extends FailureState {
  pause_ms: number;
  /** Whether the stream pauses, and sends nothing until somebody starts it again. */
  givesUp: boolean;
}

/**
 * Plans the next attempt. The pause doubles up to 15 minutes; jitter then changes it by up to 25 %. `Retry-After`
 * replaces the pause, which is at least 0.5 s. A 410 or 72 hours of failures make the stream pause.
 */
export function planRetry(
  { failures, failing_ms }: FailureState,
  failed: { status: number | null; retryAfterMs: number | null; callMs: number },
  random: () => number = Math.random,
): RetryPlan {
  const doubledMs = Math.min(PAUSE_MS_MIN * 2 ** Math.min(failures, 30), PAUSE_MS_MAX);
  const jitteredMs = doubledMs * (1 - JITTER + 2 * JITTER * random());
  const pause_ms = Math.round(Math.max(failed.retryAfterMs ?? jitteredMs, PAUSE_MS_MIN / 2));
  const spentMs = Math.round(failing_ms + failed.callMs);
  return {
    failures: failures + 1,
    failing_ms: spentMs + pause_ms,
    pause_ms,
    givesUp: failed.status === GONE || spentMs >= RETRY_MS_MAX,
  };
}
