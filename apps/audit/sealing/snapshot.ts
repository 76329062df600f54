/**
 * The transactions that had ended at one moment: PostgreSQL's `pg_snapshot`. All transactions below `xmax`
 * had ended, except the running ones.
 */
export interface Snapshot {
  xmax: bigint;
  /** In ascending order. */
  running: readonly bigint[];
}

/** Reads `xmin:xmax:running,running`. */
export function parseSnapshot(text: string): Snapshot {
  const [, xmax = "", running = ""] = text.split(":");
  return { xmax: BigInt(xmax), running: running === "" ? [] : running.split(",").map(BigInt) };
}

export function snapshotText({ xmax, running }: Snapshot): string {
  return `${running[0] ?? xmax}:${xmax}:${running.join(",")}`;
}

/** The transactions below `before` that `sealed` does not see and a later snapshot does. */
export interface SealWindow {
  /** Transactions that were running in `sealed`. */
  late: readonly bigint[];
  from: bigint;
  before: bigint;
  now: Snapshot;
}

/**
 * Returns the transactions to seal after `sealed`, as of `now`: all of them, or those below `bound`. One pass
 * takes the entries below `bound`. A single transaction is never divided.
 */
export function windowAfter(sealed: Snapshot, now: Snapshot, bound: bigint | null): SealWindow {
  const least = sealed.xmax + 1n;
  const wanted = bound === null ? now.xmax : bound < least ? least : bound;
  const before = wanted < now.xmax ? wanted : now.xmax;
  return { late: sealed.running, from: sealed.xmax, before, now };
}

/** Returns the snapshot that is sealed once the window is. */
export function sealedAfter({ before, now }: SealWindow): Snapshot {
  return { xmax: before, running: now.running.filter((xid) => xid < before) };
}
