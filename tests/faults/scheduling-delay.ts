import { readdirSync, readFileSync } from "node:fs";

const INTERVAL_MS = 50;
const NS_PER_MS = 1e6;
/** The runtime's thread that carries calls of other services; it begins with the first of them. */
const CALLS_THREAD = "HTTP Client";
const THREADS_LOOK_MS = 1_000;

/** This process: the clients, and the lines between all others. */
export const CLIENTS_PROCESS = "clients";

/** How long each process has stood in line since the run began, at one moment. */
interface Sample {
  readonly at_ms: number;
  readonly waited_ms: ReadonlyMap<string, number>;
}

/**
 * How long the processes of a run stood in line for a processor, as the kernel counts it, and how late this one's own
 * timers were: what a busy machine adds to times. Elsewhere than on Linux only the latter.
 */
export class SchedulingDelay {
  readonly #pids: () => ReadonlyMap<string, number>;
  readonly #counted_ns = new Map<number, number>();
  readonly #threads = new Map<number, { ids: readonly number[]; looked_ms: number }>();
  readonly #samples: Sample[] = [{ at_ms: performance.now(), waited_ms: new Map() }];
  readonly #timer = setInterval(() => this.#sample(), INTERVAL_MS);

  /** `pids` are those that run now, by name. */
  constructor(pids: () => ReadonlyMap<string, number>) {
    this.#pids = pids;
    this.#sample();
  }

  /**
   * The delay of these processes together between two moments, rather too much than too little; the later one must
   * have been sampled.
   */
  between(from_ms: number, to_ms: number, names: readonly string[]): number {
    const before = this.#samples.findLast(({ at_ms }) => at_ms <= from_ms) ?? this.#samples[0];
    const after = this.#samples.find(({ at_ms }) => at_ms >= to_ms) ?? this.#samples.at(-1);
    const waited = (sample: Sample | undefined, name: string) => sample?.waited_ms.get(name) ?? 0;
    return names.reduce((sum, name) => sum + waited(after, name) - waited(before, name), 0);
  }

  /** Forgets what was sampled before. */
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
    // what its main thread waited is in how late it is
    const calls = this.#threadsOf(process.pid, at_ms).filter((id) => id !== process.pid);
    add(CLIENTS_PROCESS, this.#waited(process.pid, calls));
    add(CLIENTS_PROCESS, Math.max(0, at_ms - (last?.at_ms ?? at_ms) - INTERVAL_MS));
    this.#samples.push({ at_ms, waited_ms });
  }

  /** What these threads of a process waited since they were last looked at. */
  #waited(pid: number, threads: readonly number[]): number {
    return threads.reduce((sum, thread) => {
      const now_ns = countedNs(pid, thread);
      const before_ns = this.#counted_ns.get(thread) ?? now_ns;
      this.#counted_ns.set(thread, now_ns);
      return sum + Math.max(0, now_ns - before_ns) / NS_PER_MS;
    }, 0);
  }

  /** The threads of a process that requests pass. */
  #threadsOf(pid: number, now_ms: number): readonly number[] {
    const known = this.#threads.get(pid);
    if (known !== undefined && (known.ids.length > 1 || now_ms - known.looked_ms < THREADS_LOOK_MS)) {
      return known.ids;
    }
    const ids = [pid, ...threadsNamed(pid, CALLS_THREAD)];
    this.#threads.set(pid, { ids, looked_ms: now_ms });
    return ids;
  }
}

function threadsNamed(pid: number, name: string): number[] {
  try {
    const isNamed = (thread: string) =>
      readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim() === name;
    return readdirSync(`/proc/${pid}/task`).filter(isNamed).map(Number);
  } catch {
    return []; // it has ended, or this is no Linux
  }
}

/** What the kernel has counted for a thread. */
function countedNs(pid: number, thread: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return 0; // it has ended, or this is no Linux
  }
}
