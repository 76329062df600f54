const REFUSED = 400;

/** Decides by the status of a response whether its request gets a log line. */
export type AccessSample = (status: number) => boolean;

/**
 * Returns a sampler that keeps an evenly distributed share of the log lines of successful requests. A
 * refused, failed or aborted request always gets its line.
 */
export function accessSample(share: number): AccessSample {
  if (share >= 1) return () => true;
  let owed = 0;
  return (status) => {
    if (status >= REFUSED) return true;
    owed += share;
    if (owed < 1) return false;
    owed -= 1;
    return true;
  };
}
