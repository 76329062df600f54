import type { JudgedGoal } from "./measure/goals.ts";

/** One measurement, run by name: `bun run bench <name>`. */
export interface Bench {
  /** The subject of the measurement, in one line. */
  readonly summary: string;
  /** Measures, reports progress on stderr, and resolves with the findings. */
  run(options: BenchOptions): Promise<BenchResult>;
}

export interface BenchOptions {
  /** Whether rounds are fewer and shorter: to check that the bench runs, not to quote it. */
  readonly quick: boolean;
  /** Whether the bench `floor` also measures the lean gateway and the gateway on the runtime's fetch. */
  readonly fetch: boolean;
  readonly progress: Progress;
}

/** Reports a line of progress. */
export type Progress = (line: string) => void;

export interface BenchResult {
  /** The findings for people. */
  readonly text: string;
  /** The findings for programs, printed as JSON with `--json`. */
  readonly data: object;
  /** The goals, and whether they were reached. */
  readonly goals?: readonly JudgedGoal[];
}
