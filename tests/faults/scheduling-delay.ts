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
  readonly at_ms: number;
  readonly waited_ms: ReadonlyMap<string, number>;
}

/**
 * Measures the delay that a busy machine adds to durations. It reads the kernel's counts of how long each
 * process waited for CPU time, and measures how late timers of this process run. Systems other than Linux
 * have no such counts, so only the timers count.
 */
export class SchedulingDelay {
  readonly #pids: () => ReadonlyMap<string, number>;
  readonly #countedNs = new Map<number, number>();
  readonly #threads = new Map<number, { ids: readonly number[]; looked_ms: number }>();
  readonly #samples: Sample[] = [{ at_ms: performance.now(), waited_ms: new Map() }];
  readonly #timer = setInterval(() => this.#sample(), INTERVAL_MS);

  /** @param pids returns the ids of the running processes, by name */
  constructor(pids: () => ReadonlyMap<string, number>) {
    this.#pids = pids;
    this.#sample();
  }

  /**
   * Returns an upper bound of the total delay of these processes between two moments. A sample after `to_ms`
   * must exist.
   */
  between(from_ms: number, to_ms: number, names: readonly string[]): number {
    const before = this.#samples.findLast(({ at_ms }) => at_ms <= from_ms) ?? this.#samples[0];
    const after = this.#samples.find(({ at_ms }) => at_ms >= to_ms) ?? this.#samples.at(-1);
    const waited = (sample: Sample | undefined, name: string) => sample?.waited_ms.get(name) ?? 0;
    return names.reduce((sum, name) => sum + waited(after, name) - waited(before, name), 0);
  }

  /** Removes the samples that delays after `before_ms` do not need. */
  forget(before_ms: number): void {
    const kept = this.#samples.findLastIndex(({ at_ms }) => at_ms <= before_ms);
    this.#samples.splice(0, Math.max(0, kept));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const at_ms = performance.now();
    const last = this.#samples.at(-1);
    const waited_ms = new Map(last?.waited_ms);
    const add = (name: string, ms: number) => waited_ms.set(name, (waited_ms.get(name) ?? 0) + ms);
    for (const [name, pid] of this.#pids()) add(name, this.#waited(pid, this.#threadsOf(pid, at_ms)));
    // The main thread's delay is measured by the lateness of this timer, so count only the other threads
    // here.
    const calls = this.#threadsOf(process.pid, at_ms).filter((id) => id !== process.pid);
    add(CLIENTS_PROCESS, this.#waited(process.pid, calls));
    add(CLIENTS_PROCESS, Math.max(0, at_ms - (last?.at_ms ?? at_ms) - INTERVAL_MS));
    this.#samples.push({ at_ms, waited_ms });
  }

  /** Returns the milliseconds that these threads of a process waited for CPU time since the last call. */
  #waited(pid: number, threads: readonly number[]): number {
    return threads.reduce((sum, thread) => {
      const now_ns = countedNs(pid, thread);
      const before_ns = this.#countedNs.get(thread) ?? now_ns;
      this.#countedNs.set(thread, now_ns);
      return sum + Math.max(0, now_ns - before_ns) / NS_PER_MS;
    }, 0);
  }

  /** Returns the ids of the threads that work on requests: the main thread and the one for outgoing calls. */
  #threadsOf(pid: number, nowMs: number): readonly number[] {
    const known = this.#threads.get(pid);
    if (known !== undefined && (known.ids.length > 1 || nowMs - known.looked_ms < THREADS_LOOK_MS)) {
      return known.ids;
    }
    const ids = [pid, ...threadsNamed(pid, CALLS_THREAD)];
    this.#threads.set(pid, { ids, looked_ms: nowMs });
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
