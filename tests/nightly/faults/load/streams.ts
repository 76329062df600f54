import { EVENT_INTERVAL_MS, LIMITS } from "../clients.ts";
import type { System } from "../system/system.ts";
import type { Recorder, Seen } from "./recorder.ts";
import type { Request } from "./requests.ts";

const REOPEN_MS = 500;

/** Keeps one event stream open, and reopens it when it breaks. Records each event and each break. */
export async function keepStream(
  system: System,
  recorder: Recorder,
  request: () => Request,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const { replica, url } = await system.nextGateway();
    let lastMs = performance.now();
    const saw = (status: number | null) => {
      const endedMs = performance.now();
      if (stop.aborted) return;
      recorder.saw({ client: "stream", replica, startedMs: lastMs, endedMs, status } satisfies Seen);
      lastMs = endedMs;
    };
    const silence = new Silence();
    try {
      const { path, caller } = request();
      const signal = AbortSignal.any([stop, silence.signal]);
      const response = await fetch(url + path, { headers: caller.headers, signal });
      if (response.status !== 200 || response.body === null) saw(response.status);
      else {
        for await (const _ of response.body) {
          silence.broken();
          saw(200);
        }
        saw(null); // The service never ends a stream, so the stream broke.
      }
    } catch {
      saw(null);
    } finally {
      silence.end();
    }
    if (!stop.aborted) await Bun.sleep(REOPEN_MS);
  }
}

/** A timer that aborts a stream if no event arrives in time. */
class Silence {
  readonly #controller = new AbortController();
  #timer = this.#again();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#again();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #again(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(), LIMITS.upstreamMs * 2 + EVENT_INTERVAL_MS);
  }
}
