import { readFileSync } from "node:fs";

const INTERVAL_MS = 50;
const NS_PER_MS = 1e6;

/** The name of this process, which runs the clients and the network links. */
export const CLIENTS_PROCESS = "clients";

/** A reading of how long each process has waited for CPU time since the run began. */
interface Sample {
  readonly atMs: number;
  readonly waitedMs: ReadonlyMap<string, number>;
}

/**
 * Measures the delay that a busy machine adds to durations. It reads the kernel's counts of how long each
 * process waited for CPU time, and measures how late timers of this process run. Systems other than Linux
 * have no such counts, so only the timers count.
 */
export class SchedulingDelay implements Disposable {
  readonly #pids: () => ReadonlyMap<string, number>;
  readonly #countedNs = new Map<number, number>();
  readonly #samples: Sample[] = [{ atMs: performance.now(), waitedMs: new Map() }];
  readonly #timer = setInterval(() => this.#sample(), INTERVAL_MS);

  /** @param pids returns the ids of the running processes, by name */
  constructor(pids: () => ReadonlyMap<string, number>) {
    this.#pids = pids;
    this.#sample();
  }

  /**
   * Returns an upper bound of the total delay of these processes between two moments. A sample after `toMs`
   * must exist.
   */
  between(fromMs: number, toMs: number, names: readonly string[]): number {
    const before = this.#samples.findLast(({ atMs }) => atMs <= fromMs) ?? this.#samples[0];
    const after = this.#samples.find(({ atMs }) => atMs >= toMs) ?? this.#samples.at(-1);
    const waited = (sample: Sample | undefined, name: string) => sample?.waitedMs.get(name) ?? 0;
    return names.reduce((sum, name) => sum + waited(after, name) - waited(before, name), 0);
  }

  /** Removes the samples that are not needed to compute delays after `beforeMs`. */
  forget(beforeMs: number): void {
    const kept = this.#samples.findLastIndex(({ atMs }) => atMs <= beforeMs);
    this.#samples.splice(0, Math.max(0, kept));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const atMs = performance.now();
    const last = this.#samples.at(-1);
    const waitedMs = new Map(last?.waitedMs);
    const add = (name: string, ms: number) => waitedMs.set(name, (waitedMs.get(name) ?? 0) + ms);
    for (const [name, pid] of this.#pids()) add(name, this.#waited(pid));
    add(CLIENTS_PROCESS, Math.max(0, atMs - (last?.atMs ?? atMs) - INTERVAL_MS));
    this.#samples.push({ atMs, waitedMs });
  }

  /** Returns the milliseconds that the main thread of a process waited for CPU time since the last call. */
  #waited(pid: number): number {
    const nowNs = countedNs(pid);
    const beforeNs = this.#countedNs.get(pid) ?? nowNs;
    this.#countedNs.set(pid, nowNs);
    return Math.max(0, nowNs - beforeNs) / NS_PER_MS;
  }
}

/** Returns the kernel's count of the nanoseconds that a process's main thread has waited for CPU time. */
function countedNs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return 0; // The process has ended, or the system is not Linux.
  }
}
