import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { check } from "../checker/check.ts";
import { settled } from "../checker/history.ts";
import type { Model, Operation } from "../checker/model.ts";

const NEVER = Number.POSITIVE_INFINITY;

interface Call {
  readonly register: string;
  /** The value to write, or null for a read. */
  readonly value: number | null;
}

/** A register of one number. Reads and writes return the number before the call. */
const register: Model<number, Call, number> = {
  name: "register",
  keyOf: (call) => call.register,
  begin: () => 0,
  step: (before, { value }, answer) => (answer === null || answer === before ? (value ?? before) : null),
  leavesState: ({ value }) => value === null,
  textOf: String,
};

type Registered = Operation<Call, number>;

function operation(
  value: number | null,
  answer: number | null,
  calledAt: number,
  answeredAt: number,
): Registered {
  return { call: { register: "a", value }, answer, calledAt, answeredAt };
}

function resultOf(operations: readonly Registered[], stepsMax?: number) {
  return check(register, operations, stepsMax).map(({ result }) => result);
}

describe("the checker of histories", () => {
  test("rejects an answer that only an order against real time explains", () => {
    const wrong = [operation(1, 0, 0, 1), operation(null, 0, 2, 3)];
    const [verdict] = check(register, wrong);
    expect(verdict).toMatchObject({ result: "not linearizable", operations: 2, unanswered: 0 });
    expect(verdict?.blocked).toEqual(['{"register":"a","value":null} → 0']);
  });

  test("checks each object separately", () => {
    const other = { ...operation(null, 7, 0, 1), call: { register: "b", value: null } };
    expect(resultOf([operation(1, 0, 0, 1), other])).toEqual(["linearizable", "not linearizable"]);
  });

  test("returns undecided when its steps are used up, even for a wrong history", () => {
    const open = Array.from({ length: 24 }, (_, n) => operation(n + 1, null, n, NEVER));
    const wrong = [...open, operation(null, 99, 100, 101)];
    expect(resultOf(wrong, 500)).toEqual(["undecided"]);
  });

  test("decides a history with many equal calls that have no answer", () => {
    const open = Array.from({ length: 200 }, (_, n) => operation(1, null, n, NEVER));
    const turns = (values: readonly number[]) =>
      values.map((value, n) => operation(null, value, 500 + 2 * n, 501 + 2 * n));
    expect(resultOf([...open, ...turns([0, 1, 1])], 5_000)).toEqual(["linearizable"]);
    expect(resultOf([...open, ...turns([0, 1, 0])], 5_000)).toEqual(["not linearizable"]);
  });

  test("refuses a model that treats a write as a read", () => {
    const wrong = { ...register, leavesState: () => true };
    expect(() => check(wrong, [operation(1, 0, 0, 1)])).toThrow(
      "changes the state, but leavesState returns true",
    );
  });

  test("agrees with a search of all orders", () => {
    const operations = fc.array(
      fc.record({
        value: fc.option(fc.integer({ min: 1, max: 2 })),
        answer: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 6 }),
        calledAt: fc.integer({ min: 0, max: 6 }),
        lasts: fc.integer({ min: 1, max: 5 }),
      }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(operations, (drawn) => {
        const history = drawn.map(({ value, answer, calledAt, lasts }) =>
          operation(value, answer, calledAt, answer === null ? NEVER : calledAt + lasts),
        );
        expect(resultOf(history)).toEqual([hasOrder(history, 0) ? "linearizable" : "not linearizable"]);
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Tries all orders of the operations, and returns whether one of them explains the answers. */
function hasOrder(left: readonly Registered[], state: number): boolean {
  if (left.every(({ answer }) => answer === null)) return true;
  return left.some((first, index) => {
    const others = left.filter((_, at) => at !== index);
    if (others.some(({ answeredAt }) => answeredAt < first.calledAt)) return false;
    const next = register.step(state, first.call, first.answer);
    return next !== null && hasOrder(others, next);
  });
}

describe("writes without an answer", () => {
  test("get their answer from the product's records, are left out, or stay open", () => {
    const open = (value: number) => operation(value, null, value, NEVER);
    const answered = operation(9, 4, 0, 1);
    const answers = new Map<number | null, number | null>([
      [1, 5],
      [2, null],
    ]);
    expect(settled([answered, open(1), open(2), open(3)], ({ value }) => answers.get(value))).toEqual([
      answered,
      { ...open(1), answer: 5 },
      open(3),
    ]);
  });
});
