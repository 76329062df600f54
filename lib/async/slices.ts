import { type Clock, systemClock } from "./clock.ts";

export interface SliceOptions {
  /** How long steps may follow one another before everything else has its turn. */
  slice_ms: number;
  stopping?: () => boolean;
  clock?: Clock;
}

/**
 * Takes all `steps`, in slices with a turn of the event loop between them, so that long work keeps nobody waiting.
 * Resolves with false when it was stopped before the last step.
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
