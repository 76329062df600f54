import { expect, test } from "bun:test";
import { VALUE_COST, WorkBudget } from "../../../lib/edge-description/work-budget.ts";

const costing = (work: WorkBudget, units: number) => () => {
  work.spend(units);
  return "done";
};

test("a part may cost exactly its limit, and a part that costs more is abandoned alone", () => {
  const work = new WorkBudget(100);
  expect(work.within(10, costing(work, 10))).toBe("done");
  expect(work.within(10, costing(work, 11))).toBeNull();
  expect(work.within(10, costing(work, 10))).toBe("done");
});

test("parts may cost exactly the budget together, and every part after that is abandoned", () => {
  const work = new WorkBudget(100);
  expect(work.within(100, costing(work, 60))).toBe("done");
  expect(work.within(100, costing(work, 40))).toBe("done");
  expect(work.within(100, costing(work, 1))).toBeNull();
  expect(work.within(100, costing(work, 0))).toBeNull();
});

test("another error of a part is thrown", () => {
  const work = new WorkBudget(100);
  const part = () => {
    throw new TypeError("no schema");
  };
  expect(() => work.within(10, part)).toThrow("no schema");
});

test.each<[string, number, (work: WorkBudget) => unknown]>([
  ["a text", 3, (work) => work.text("abc")],
  ["a list", 2 * VALUE_COST, (work) => work.items([1, 2])],
  ["a record", 2 * VALUE_COST + 3, (work) => work.entries({ a: 1, bc: 2 })],
  ["data", 3 * VALUE_COST + 4, (work) => work.isData({ a: ["xyz", 1] })],
])("%s costs %d units", (_, units, read) => {
  for (const [limit, isRead] of [
    [units, true],
    [units - 1, false],
  ] as const) {
    const work = new WorkBudget(1_000);
    const result = work.within(limit, () => [read(work)]);
    expect(result !== null).toBe(isRead);
  }
});
