import { type Clock, systemClock } from "./clock.ts";

interface SliceOptions {
  /** The longest time for which steps run before the event loop gets a turn. */
  slice_ms: number;
  stopping?: () => boolean;
  clock?: Clock;
}

/**
 * Runs all `steps` in slices and yields to the event loop between slices, so that long work does not block
 * it. Resolves with false if `stopping` ended the work before the last step.
 */
export async function inSlices(
  steps: Iterable<unknown>,
  { slice_ms, stopping = () => false, clock = systemClock }: SliceOptions,
): Promise<boolean> {
  let started_ms = clock.elapsed_ms();
  for (const _ of steps) {
    if (clock.elapsed_ms() - started_ms < slice_ms) continue;
    await new Promise((resolve) => setImmediate(resolve));
    if (stopping()) return false;
    started_ms = clock.elapsed_ms();
  }
  return true;
}

/** Runs all `steps` in slices, as {@link inSlices} does, and resolves with their result. */
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
