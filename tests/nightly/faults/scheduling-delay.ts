import { readdirSync, readFileSync } from "node:fs";

const INTERVAL_MS = 50;
const NS_PER_MS = 1e6;
/** The name of the runtime's thread for outgoing HTTP calls. It starts with the first call. */
const CALLS_THREAD = "HTTP Client";
const THREADS_LOOK_MS = 1_000;

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
  readonly #threads = new Map<number, { ids: readonly number[]; lookedMs: number }>();
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
    for (const [name, pid] of this.#pids()) add(name, this.#waited(pid, this.#threadsOf(pid, atMs)));
    // The main thread's delay is measured by the lateness of this timer, so count only the other threads
    // here.
    const calls = this.#threadsOf(process.pid, atMs).filter((id) => id !== process.pid);
    add(CLIENTS_PROCESS, this.#waited(process.pid, calls));
    add(CLIENTS_PROCESS, Math.max(0, atMs - (last?.atMs ?? atMs) - INTERVAL_MS));
    this.#samples.push({ atMs, waitedMs });
  }

  /** Returns the milliseconds that these threads of a process waited for CPU time since the last call. */
  #waited(pid: number, threads: readonly number[]): number {
    return threads.reduce((sum, thread) => {
      const nowNs = countedNs(pid, thread);
      const beforeNs = this.#countedNs.get(thread) ?? nowNs;
      this.#countedNs.set(thread, nowNs);
      return sum + Math.max(0, nowNs - beforeNs) / NS_PER_MS;
    }, 0);
  }

  /** Returns the ids of the threads that work on requests: the main thread and the one for outgoing calls. */
  #threadsOf(pid: number, nowMs: number): readonly number[] {
    const known = this.#threads.get(pid);
    if (known !== undefined && (known.ids.length > 1 || nowMs - known.lookedMs < THREADS_LOOK_MS)) {
      return known.ids;
    }
    const ids = [pid, ...threadsNamed(pid, CALLS_THREAD)];
    this.#threads.set(pid, { ids, lookedMs: nowMs });
    return ids;
  }
}

function threadsNamed(pid: number, name: string): number[] {
  try {
    const isNamed = (thread: string) =>
      readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim() === name;
    return readdirSync(`/proc/${pid}/task`).filter(isNamed).map(Number);
  } catch {
    return []; // The process has ended, or the system is not Linux.
  }
}

/** Returns the kernel's count of the nanoseconds that a thread has waited for CPU time. */
function countedNs(pid: number, thread: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return 0; // The process has ended, or the system is not Linux.
  }
}
