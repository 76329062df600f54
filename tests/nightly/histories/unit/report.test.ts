import { expect, test } from "bun:test";
import type { Verdict } from "../checker/check.ts";
import { tooManyUndecided, wrongHistories } from "../report.ts";

const decided = verdict("linearizable");
const undecided = verdict("undecided");

function verdict(result: Verdict["result"]): Verdict {
  return { model: "limits", key: "k", operations: 3, unanswered: 1, result, blocked: [] };
}

function verdicts(decidedCount: number, undecidedCount: number): Verdict[] {
  return [
    ...Array.from({ length: decidedCount }, () => decided),
    ...Array.from({ length: undecidedCount }, () => undecided),
  ];
}

test("a run fails if more than one of a hundred histories is undecided, and names the models", () => {
  expect(tooManyUndecided(verdicts(396, 4))).toEqual([]);
  expect(tooManyUndecided(verdicts(395, 5))).toEqual([
    "5 of 400 histories are undecided (limits): record shorter histories, or improve the search.",
  ]);
});

test("a short run may have one undecided history", () => {
  expect(tooManyUndecided(verdicts(3, 1))).toEqual([]);
  expect(tooManyUndecided(verdicts(3, 2))).toHaveLength(1);
  expect(tooManyUndecided([])).toEqual([]);
});

test("an undecided history does not count as wrong", () => {
  expect(wrongHistories(verdicts(2, 2))).toEqual([]);
  expect(wrongHistories([{ ...verdict("not linearizable"), blocked: ["a → b"] }])).toEqual([
    "limits k: no order explains these operations:\n  a → b",
  ]);
});
