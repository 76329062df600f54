const REFUSED = 400;

/** Decides by the status of an answer whether its request gets a log line. */
export type AccessSample = (status: number) => boolean;

/**
 * Returns a sampler that keeps an evenly spread share of the lines of successful requests. A refused, failed
 * or abandoned request always gets its line.
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
