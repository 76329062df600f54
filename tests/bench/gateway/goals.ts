import { ratiosOf, type Spread } from "../measure/statistics.ts";
import { table } from "../measure/table.ts";
import type { Sample } from "../measure/wrk.ts";
import type { Subject, SubjectName } from "./subjects.ts";

/** A subject and its measurements, one for each round. */
export interface Measured {
  readonly subject: Subject;
  readonly samples: Sample[];
}

/** What the gateway is to reach: a figure of one subject over that of another. */
interface Goal {
  readonly title: string;
  readonly of: SubjectName;
  readonly over: SubjectName;
  readonly figure: "requests_per_second" | "p99_ms";
  readonly bound: number;
}

const GOALS: readonly Goal[] = [
  goal("whole job / nginx + Lua", "whole_job", "rival", 1.3),
  { ...goal("p99 of the same, at most", "whole_job", "rival", 1), figure: "p99_ms" },
  goal("whole job / pass-through", "whole_job", "pass_through", 0.6),
  goal("public / pass-through", "public", "pass_through", 0.8),
  goal("10 000 routes / 10 routes", "many_routes", "whole_job", 0.97),
];

function goal(title: string, of: SubjectName, over: SubjectName, bound: number): Goal {
  return { title, of, over, bound, figure: "requests_per_second" };
}

/** What became of a goal. */
export interface Reached extends Goal {
  /** Taken round by round. */
  readonly ratio: Spread;
  /** The same for requests per second of CPU time, which others at work on the machine hardly change. */
  readonly cpu_ratio: Spread | null;
  readonly met: boolean;
}

/** Holds the measurements against the goals; one whose subject could not be measured is left out. */
export function reachedBy(measured: readonly Measured[]): Reached[] {
  return GOALS.flatMap((goal) => {
    const samplesOf = (name: SubjectName) => measured.find(({ subject }) => subject.name === name)?.samples;
    const [of, over] = [samplesOf(goal.of), samplesOf(goal.over)];
    if (of === undefined || over === undefined) return [];
    const ratio = (figure: keyof Sample) =>
      ratiosOf(
        of.map((sample) => sample[figure]),
        over.map((sample) => sample[figure]),
      );
    const reached = ratio(goal.figure);
    const isRate = goal.figure === "requests_per_second";
    const met = isRate ? reached.median >= goal.bound : reached.median <= goal.bound;
    return [{ ...goal, ratio: reached, cpu_ratio: isRate ? ratio("requests_per_cpu_second") : null, met }];
  });
}

export function goalTable(goals: readonly Reached[]): string {
  const rows = goals.map(({ title, ratio, cpu_ratio, bound, met }) => [
    title,
    ratio.median.toFixed(2),
    `${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)}`,
    cpu_ratio?.median.toFixed(2) ?? "",
    bound.toFixed(2),
    met ? "reached" : "missed",
  ]);
  return table(["ratio, round by round", "median", "min..max", "by CPU", "goal", ""], rows);
}
