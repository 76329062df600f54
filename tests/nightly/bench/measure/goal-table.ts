import { type Static, Type } from "@sinclair/typebox";
import { Spread } from "./statistics.ts";
import { table } from "./table.ts";

const Goal = Type.Object({
  title: Type.String({ description: "The figure and its unit. A figure without a unit is a ratio." }),
  bound: Type.Number(),
  at_most: Type.Optional(
    Type.Boolean({ description: "Default false: the figure must be at least as large as the bound." }),
  ),
});
export type Goal = Readonly<Static<typeof Goal>>;

export const JudgedGoal = Type.Composite([
  Goal,
  Type.Object({
    value: Spread,
    by_cpu: Type.Union([Spread, Type.Null()], {
      description: "The same figure in CPU time, on which other work on the machine has little effect.",
    }),
    met: Type.Boolean(),
  }),
]);
export type JudgedGoal = Readonly<Static<typeof JudgedGoal>>;

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

/** Formats a figure: with two decimals below 10, one below 100 and none from 100. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}
