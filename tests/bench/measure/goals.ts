import type { Spread } from "./statistics.ts";
import { table } from "./table.ts";

/** What a figure is to reach. */
export interface Goal {
  /** The figure and its unit: a ratio where no unit is named. */
  readonly title: string;
  readonly bound: number;
  /** Default false: the figure is to be at least as large as the bound. */
  readonly at_most?: boolean;
}

/** What became of a goal. */
export interface JudgedGoal extends Goal {
  readonly value: Spread;
  /** The same figure by CPU time, which others at work on the machine hardly change; null where there is none. */
  readonly by_cpu: Spread | null;
  readonly met: boolean;
}

export function judge(goal: Goal, value: Spread, by_cpu: Spread | null = null): JudgedGoal {
  const met = goal.at_most ? value.median <= goal.bound : value.median >= goal.bound;
  return { ...goal, value, by_cpu, met };
}

export function goalTable(goals: readonly JudgedGoal[]): string {
  const rows = goals.map(({ title, value, by_cpu, bound, at_most, met }) => [
    title,
    figure(value.median),
    `${figure(value.min)}..${figure(value.max)}`,
    by_cpu === null ? "" : figure(by_cpu.median),
    `${at_most ? "at most " : ""}${figure(bound)}`,
    met ? "reached" : "missed",
  ]);
  return table(["goal", "median", "min..max", "by CPU", "goal", ""], rows);
}

/** Two decimals for ratios, fewer for what is large. */
function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}
