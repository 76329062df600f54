import type { CellRun } from "../record.ts";

/** Something that holds whatever breaks: a line of the report, which can fail. */
export interface Promised {
  readonly name: string;
  readonly title: string;
  /** It speaks of times, which a busy machine changes. */
  readonly timed: boolean;
  /** Ways in which a run broke it; null where the run says nothing about it. */
  judge(run: CellRun): readonly string[] | null;
}

/** A time of the run as a person reads it: seconds since its beginning. */
export function at({ began_ms }: CellRun, ms: number): string {
  return `at ${((ms - began_ms) / 1000).toFixed(2)} s`;
}
