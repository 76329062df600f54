import { type Goal, type JudgedGoal, judge } from "../measure/goal-table.ts";
import { ratiosOf } from "../measure/statistics.ts";
import type { Sample } from "../measure/wrk.ts";
import type { Subject, SubjectName } from "./subjects.ts";

/** A subject and its measurements, one for each round. */
export interface Measured {
  readonly subject: Subject;
  readonly samples: Sample[];
}

/** A goal for the ratio of requests per second between two subjects. */
interface Ratio extends Goal {
  readonly of: SubjectName;
  readonly over: SubjectName;
}

const RATIOS: readonly Ratio[] = [
  ratio("a line for each request / for errors alone", "whole_job", "quiet", 0.9),
  ratio("traces of 1 % / none", "traced", "whole_job", 0.97),
  ratio("a window and a quota / a window", "two_limits", "whole_job", 0.97),
  ratio("10 000 routes / 10 routes", "routes_10_000", "whole_job", 0.99),
  ratio("100 000 routes / 10 routes", "routes_100_000", "whole_job", 0.97),
];

function ratio(title: string, of: SubjectName, over: SubjectName, bound: number): Ratio {
  return { title, of, over, bound };
}

/** Judges the measurements. Omits the goals that need a subject that was not measured. */
export function goalsOf(measured: readonly Measured[]): JudgedGoal[] {
  return RATIOS.flatMap(({ of, over, ...goal }) => {
    const samplesOf = (name: SubjectName) => measured.find(({ subject }) => subject.name === name)?.samples;
    const [above, below] = [samplesOf(of), samplesOf(over)];
    if (above === undefined || below === undefined) return [];
    const by = (field: keyof Sample) =>
      ratiosOf(
        above.map((sample) => sample[field]),
        below.map((sample) => sample[field]),
      );
    return [judge(goal, by("requests_per_second"), by("requests_per_cpu_second"))];
  });
}
