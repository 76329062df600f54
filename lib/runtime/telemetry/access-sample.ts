const REFUSED = 400;

export type AccessSample = (status: number) => boolean;

/** Keeps an even share of the lines of successful requests, and every line of a refused, failed or aborted one. */
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
