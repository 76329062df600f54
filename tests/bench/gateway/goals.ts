import { type Goal, type JudgedGoal, judge } from "../measure/goals.ts";
import { ratiosOf } from "../measure/statistics.ts";
import type { Sample } from "../measure/wrk.ts";
import type { Subject, SubjectName } from "./subjects.ts";

/** A subject and its measurements, one for each round. */
export interface Measured {
  readonly subject: Subject;
  readonly samples: Sample[];
}

/** What the gateway is to reach: a figure of one subject over that of another. */
interface Ratio extends Goal {
  readonly of: SubjectName;
  readonly over: SubjectName;
  readonly figure: "requests_per_second" | "p99_ms";
}

const RATIOS: readonly Ratio[] = [
  ratio("public / pass-through", "public", "pass_through", 0.75),
  ratio("whole job / pass-through", "whole_job", "pass_through", 0.6),
  ratio("whole job / nginx + Lua", "whole_job", "rival", 1.05),
  {
    ...ratio("p99 of the whole job / nginx + Lua", "whole_job", "rival", 1.2),
    figure: "p99_ms",
    at_most: true,
  },
  ratio("a line for each request / for errors alone", "whole_job", "quiet", 0.9),
  ratio("traces of 1 % / none", "traced", "whole_job", 0.97),
  ratio("10 000 routes / 10 routes", "routes_10_000", "whole_job", 0.99),
  ratio("100 000 routes / 10 routes", "routes_100_000", "whole_job", 0.97),
];

function ratio(title: string, of: SubjectName, over: SubjectName, bound: number): Ratio {
  return { title, of, over, bound, figure: "requests_per_second" };
}

/** Holds the measurements against the goals, round by round; one whose subject is not there is left out. */
export function goalsOf(measured: readonly Measured[]): JudgedGoal[] {
  return RATIOS.flatMap(({ of, over, figure, ...goal }) => {
    const samplesOf = (name: SubjectName) => measured.find(({ subject }) => subject.name === name)?.samples;
    const [above, below] = [samplesOf(of), samplesOf(over)];
    if (above === undefined || below === undefined) return [];
    const by = (field: keyof Sample) =>
      ratiosOf(
        above.map((sample) => sample[field]),
        below.map((sample) => sample[field]),
      );
    const isRate = figure === "requests_per_second";
    return [judge(goal, by(figure), isRate ? by("requests_per_cpu_second") : null)];
  });
}
