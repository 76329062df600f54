import { readFileSync } from "node:fs";

const INTERVAL_MS = 50;
const NS_PER_MS = 1e6;

/**
 * How long the processes of a run stood in line for a processor, as the kernel counts it, and how late this one's own
 * timers were: what a busy machine adds to times. Elsewhere than on Linux only the latter.
 */
export class SchedulingDelay {
  readonly #pids: () => readonly number[];
  readonly #waited_ns = new Map<number, number>();
  /** Sums so far, by when they were taken. */
  readonly #samples: { at_ms: number; total_ms: number }[] = [{ at_ms: performance.now(), total_ms: 0 }];
  readonly #timer = setInterval(() => this.#sample(), INTERVAL_MS);

  constructor(pids: () => readonly number[]) {
    this.#pids = pids;
    this.#sample();
  }

  /** The delay of all processes together between two moments that have been sampled; rather too much than too little. */
  between(from_ms: number, to_ms: number): number {
    const before = this.#samples.findLast(({ at_ms }) => at_ms <= from_ms) ?? this.#samples[0];
    const after = this.#samples.find(({ at_ms }) => at_ms >= to_ms) ?? this.#samples.at(-1);
    return (after?.total_ms ?? 0) - (before?.total_ms ?? 0);
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
    const last = this.#samples.at(-1);
    const at_ms = performance.now();
    const late_ms = last === undefined ? 0 : Math.max(0, at_ms - last.at_ms - INTERVAL_MS);
    const waited_ms = this.#pids().reduce((sum, pid) => sum + this.#waited(pid), 0);
    this.#samples.push({ at_ms, total_ms: (last?.total_ms ?? 0) + late_ms + waited_ms });
  }

  /** What a process waited since it was last looked at. */
  #waited(pid: number): number {
    const now_ns = waitedNs(pid);
    const before_ns = this.#waited_ns.get(pid) ?? now_ns;
    this.#waited_ns.set(pid, now_ns);
    return Math.max(0, now_ns - before_ns) / NS_PER_MS;
  }
}

/** What the kernel has counted for a process's main thread. */
function waitedNs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return 0; // it has ended, or this is no Linux
  }
}
