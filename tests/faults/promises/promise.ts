import type { CellRun } from "../record.ts";

/** A statement that holds whatever fails: a line of the report, which can be broken. */
export interface Promised {
  readonly name: string;
  readonly title: string;
  /** Whether it is about times, which a busy machine changes. */
  readonly timed: boolean;
  /** Returns the ways in which a run broke it; null when the run says nothing about it. */
  judge(run: CellRun): readonly string[] | null;
}

/** Returns a time of the run for people: seconds since its beginning. */
export function at({ began_ms }: CellRun, ms: number): string {
  return `at ${((ms - began_ms) / 1000).toFixed(2)} s`;
}
