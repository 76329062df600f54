import { type Clock, systemClock } from "./clock.ts";

interface SliceOptions {
  /** The length of a time slice. The work yields to the event loop after the step that exceeds this time. */
  sliceMs: number;
  stopping?: () => boolean;
  clock?: Clock;
}

/** Runs `steps`, and yields to the event loop after each slice. Resolves with false if `stopping` ended the work. */
export async function inSlices(
  steps: Iterable<unknown>,
  { sliceMs, stopping = () => false, clock = systemClock }: SliceOptions,
): Promise<boolean> {
  let startedMs = clock.elapsedMs();
  for (const _ of steps) {
    if (clock.elapsedMs() - startedMs < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    if (stopping()) return false;
    startedMs = clock.elapsedMs();
  }
  return true;
}

export async function resultInSlices<Result>(
  steps: Generator<unknown, Result>,
  options: Omit<SliceOptions, "stopping">,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  function* untilResult() {
    resolve(yield* steps);
  }
  await inSlices(untilResult(), options);
  return promise;
}
