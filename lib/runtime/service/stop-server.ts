import { endsWithin, systemClock } from "../../async/index.ts";

const FORCED_STOP_MS = 1_000;

/**
 * Stops accepting connections and waits for requests in flight. At the timeout, closes the remaining
 * connections.
 */
export async function stopServer<Socket>(server: Bun.Server<Socket>, timeoutMs: number): Promise<void> {
  await readWhatCame();
  await endsWithin(server.stop(), timeoutMs);
  await endsWithin(server.stop(true), FORCED_STOP_MS);
}

/**
 * Waits until the event loop is quiet, so that clients that have already sent a request get a response. When
 * a port closes, the runtime drops unread data on connections without a request, and the system resets
 * connections that are not accepted yet. If the loop stays busy, the wait ends after `WAIT_MS` and at least
 * `ITERATIONS_MIN` iterations.
 */
export async function readWhatCame(): Promise<void> {
  const beganMs = systemClock.elapsedMs();
  let iterations = 0;
  let quiet = 0;
  for (
    let nowMs = beganMs;
    quiet < QUIET_ITERATIONS && !isOver(iterations, nowMs - beganMs);
    iterations += 1
  ) {
    await new Promise((resolve) => setImmediate(resolve));
    const iterationMs = systemClock.elapsedMs() - nowMs;
    nowMs += iterationMs;
    quiet = iterationMs < QUIET_ITERATION_MS ? quiet + 1 : 0;
  }
}

/**
 * The longest event-loop iteration that counts as quiet. An iteration with nothing to read takes about a
 * twentieth of this time.
 */
const QUIET_ITERATION_MS = 0.15;
/**
 * The number of consecutive quiet event-loop iterations to wait for. One is not enough: some iterations do
 * not poll for I/O, and the first can be the remainder of the current iteration.
 */
const QUIET_ITERATIONS = 4;
const ITERATIONS_MIN = 4;
const WAIT_MS = 250;

function isOver(iterations: number, waitedMs: number): boolean {
  return iterations >= ITERATIONS_MIN && waitedMs >= WAIT_MS;
}
