const REFUSED = 400;

/** Whether a request has its line, by the status that was answered. */
export type AccessSample = (status: number) => boolean;

/**
 * Keeps a share of the lines of requests that went well, evenly; what was refused, failed or given up always has its
 * line.
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
