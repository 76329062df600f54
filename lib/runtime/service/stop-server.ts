import { endsWithin, systemClock } from "../../async/index.ts";

const FORCED_STOP_MS = 1_000;

/** At the timeout, closes the connections that remain. */
export async function stopServer<Socket>(server: Bun.Server<Socket>, timeoutMs: number): Promise<void> {
  await readWhatCame();
  await endsWithin(server.stop(), timeoutMs);
  await endsWithin(server.stop(true), FORCED_STOP_MS);
}

/**
 * Waits until the event loop is quiet, so that requests that have already been sent get a response. When a port closes,
 * the runtime drops unread data, and the system resets connections that are not accepted yet. A busy loop ends the wait
 * after `WAIT_MS` and at least `ITERATIONS_MIN` iterations.
 */
export async function readWhatCame(): Promise<void> {
  const beganMs = systemClock.elapsedMs();
  let iterations = 0;
  let quiet = 0;
  for (let nowMs = beganMs; quiet < QUIET_ITERATIONS; iterations += 1) {
    if (iterations >= ITERATIONS_MIN && nowMs - beganMs >= WAIT_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    const iterationMs = systemClock.elapsedMs() - nowMs;
    nowMs += iterationMs;
    quiet = iterationMs < QUIET_ITERATION_MS ? quiet + 1 : 0;
  }
}

/** An iteration with nothing to read takes about a twentieth of this time. */
const QUIET_ITERATION_MS = 0.15;
/** Some iterations do not poll for I/O, and the first can be the rest of the current one. */
const QUIET_ITERATIONS = 4;
const ITERATIONS_MIN = 4;
const WAIT_MS = 250;
