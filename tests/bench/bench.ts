import type { JudgedGoal } from "./measure/goals.ts";

/** One measurement, run by name: `bun run bench <name>`. */
export interface Bench {
  /** What it measures, in one line. */
  readonly summary: string;
  /** Measures, tells progress on stderr, and resolves with what was found. */
  run(options: BenchOptions): Promise<BenchResult>;
}

export interface BenchOptions {
  /** Fewer and shorter rounds: to see that it runs, not to quote. */
  readonly quick: boolean;
  /** Tells how far it has come. */
  readonly progress: (line: string) => void;
}

export interface BenchResult {
  /** For people. */
  readonly text: string;
  /** The same for programs: printed as JSON with `--json`. */
  readonly data: object;
  /** What is to be reached, and whether it was. */
  readonly goals?: readonly JudgedGoal[];
}
