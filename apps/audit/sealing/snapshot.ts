/**
 * Which transactions had been committed, or given up, at one moment: PostgreSQL's `pg_snapshot`. Those below `xmax`
 * had, but for the ones that were still running.
 */
export interface Snapshot {
  xmax: bigint;
  /** In rising order. */
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

/** Transactions that `sealed` does not see and a later snapshot does, below `before`. */
export interface SealWindow {
  /** They were running in `sealed`. */
  late: readonly bigint[];
  from: bigint;
  before: bigint;
  now: Snapshot;
}

/**
 * What is to be sealed after `sealed`, as of `now`: all of it, or what lies below `bound`, a transaction that comes
 * after so many entries as one pass takes. A single transaction is never divided.
 */
export function windowAfter(sealed: Snapshot, now: Snapshot, bound: bigint | null): SealWindow {
  const least = sealed.xmax + 1n;
  const wanted = bound === null ? now.xmax : bound < least ? least : bound;
  const before = wanted < now.xmax ? wanted : now.xmax;
  return { late: sealed.running, from: sealed.xmax, before, now };
}

/** What is sealed once a window is. */
export function sealedAfter({ before, now }: SealWindow): Snapshot {
  return { xmax: before, running: now.running.filter((xid) => xid < before) };
}
