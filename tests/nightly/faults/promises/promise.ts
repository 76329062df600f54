import type { CellRun } from "../cell-run.ts";

/** A promise of the product: a statement that must hold during every fault. */
export interface Promised {
  readonly name: string;
  readonly title: string;
  /** Whether the promise is about durations, which are not reliable on a busy machine. */
  readonly timed: boolean;
  /**
   * Returns a description of each violation in a run. Returns null if the promise does not apply to the run's
   * fault and parts.
   */
  judge(run: CellRun): readonly string[] | null;
}

/** Formats a time as the seconds since the beginning of the run. */
export function at({ beganMs }: CellRun, ms: number): string {
  return `at ${((ms - beganMs) / 1000).toFixed(2)} s`;
}
