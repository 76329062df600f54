import { openSync, write } from "node:fs";

const BLOCK_CHARACTERS = 32_768;
const CLOCK_MS = 50;

interface Counters {
  requests: number;
  duration_ms: number;
}

/** The log and metrics of the lean gateway. It writes a line for each request to /dev/null, in blocks. */
export class Journal {
  readonly #file = openSync("/dev/null", "a");
  readonly #counters = new Map<number, Counters>();
  #lines = "";
  /** The wall-clock time, updated every 50 ms. */
  nowMs = Date.now();

  constructor() {
    setInterval(() => {
      this.nowMs = Date.now();
    }, CLOCK_MS);
  }

  finish(route: string, method: string, status: number, request_id: string, startedMs: number): void {
    const duration_ms = performance.now() - startedMs;
    const counters = this.#counters.get(status) ?? this.#countersOf(status);
    counters.requests += 1;
    counters.duration_ms += duration_ms;
    this.#lines += `{"level":"info","timestamp":${this.nowMs},"service":"lean","route":"${route}","method":"${method}","status":${status},"duration_ms":${duration_ms},"request_id":"${request_id}","message":"request completed"}\n`;
    if (this.#lines.length > BLOCK_CHARACTERS) this.#flush();
  }

  #countersOf(status: number): Counters {
    const counters = { requests: 0, duration_ms: 0 };
    this.#counters.set(status, counters);
    return counters;
  }

  #flush(): void {
    write(this.#file, this.#lines, () => {});
    this.#lines = "";
  }
}
