/**
 * The transactions that had ended at one moment: PostgreSQL's `pg_snapshot`. All transactions below `xmax` had ended,
 * except those in `running`.
 */
export interface Snapshot {
  xmax: bigint;
  /** The transactions below `xmax` that were still running, in ascending order. */
  running: readonly bigint[];
}

/** Parses the text `xmin:xmax:running,running`. */
export function parseSnapshot(text: string): Snapshot {
  const [, xmax = "", running = ""] = text.split(":");
  return { xmax: BigInt(xmax), running: running === "" ? [] : running.split(",").map(BigInt) };
}

export function snapshotText({ xmax, running }: Snapshot): string {
  return `${running[0] ?? xmax}:${xmax}:${running.join(",")}`;
}

/** The snapshot of a new database, which covers no event. */
export const FIRST_SNAPSHOT: Snapshot = { xmax: 3n, running: [] };
const EVERY_TRANSACTION: Snapshot = { xmax: 2n ** 63n - 1n, running: [] };

/** Whether a database was restored on a server with lower transaction numbers. */
export function isRestored(sealed: Snapshot, now: Snapshot): boolean {
  return now.xmax < sealed.xmax;
}

/**
 * Returns the transactions that a pass may seal: the rows of a restored database are committed, whatever their numbers.
 */
export function sealable(sealed: Snapshot, now: Snapshot): Snapshot {
  return isRestored(sealed, now) ? EVERY_TRANSACTION : now;
}

/** The transactions that one pass seals: they ended after the last sealed snapshot. */
export interface SealWindow {
  /** Transactions that were still running in the last sealed snapshot. */
  late: readonly bigint[];
  /** The first transaction that the last sealed snapshot does not cover. */
  from: bigint;
  /** The end of the window, exclusive. */
  before: bigint;
  /** The snapshot that decides which of these transactions have ended. */
  now: Snapshot;
}

/**
 * Returns the transactions to seal after `sealed`, as of `now`: all of them, or those below `bound`. A single
 * transaction is never divided.
 */
export function windowAfter(sealed: Snapshot, now: Snapshot, bound: bigint | null): SealWindow {
  const least = sealed.xmax + 1n;
  const wanted = bound === null ? now.xmax : bound < least ? least : bound;
  const before = wanted < now.xmax ? wanted : now.xmax;
  return { late: sealed.running, from: sealed.xmax, before, now };
}

export function sealedAfter({ before, now }: SealWindow): Snapshot {
  return { xmax: before, running: now.running.filter((xid) => xid < before) };
}
