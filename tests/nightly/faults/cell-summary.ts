import { type CellRun, isExcused, isGood } from "./cell-run.ts";
import { nameOf } from "./cells.ts";
import { healing } from "./promises/healing.ts";
import { type Judgement, judge } from "./promises/promises.ts";

export interface CellSummary {
  readonly cell: string;
  /** The time from the end of the fault until all clients were served normally; null if they never were. */
  readonly well_again_ms: number | null;
  readonly requests: number;
  readonly audited: number;
  /** The number of failures that do not count, because the processes waited for CPU time. */
  readonly excused: number;
  readonly judgements: readonly Judgement[];
}

export function summaryOf(run: CellRun): CellSummary {
  const wellMs = Math.max(...healing(run).values());
  return {
    cell: nameOf(run.cell),
    well_again_ms: Number.isFinite(wellMs) ? Math.round(wellMs) : null,
    requests: run.responses.length,
    audited: run.reached.filter(({ client }) => client === "audited").length,
    excused: run.responses.filter((response) => !isGood(response) && isExcused(response)).length,
    judgements: judge(run, { timed: true }),
  };
}
