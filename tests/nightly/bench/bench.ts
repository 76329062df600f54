import type { JudgedGoal } from "./measure/goal-table.ts";
import type { Machine } from "./measure/machine.ts";

/** A benchmark that runs by name: `bun run bench <name>`. */
export interface Bench {
  readonly summary: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

export interface BenchOptions {
  /** Whether to run fewer and shorter rounds, to check that the bench works. The figures are then inexact. */
  readonly quick: boolean;
  /** Whether the bench `floor` writes its figures into the documents that show them. */
  readonly record: boolean;
  readonly machine: Machine;
  readonly progress: Progress;
}

export type Progress = (line: string) => void;

interface BenchResult {
  /** The paragraphs of the report. The machine precedes them, and the goals follow. */
  readonly parts: readonly string[];
  /** The results for programs, printed as JSON with `--json`, beside the machine and the goals. */
  readonly data: object;
  /** The goals with their results; absent if the bench has no goals. */
  readonly goals?: readonly JudgedGoal[];
}
