import type { Model, Operation } from "./model.ts";
import { searchOrder } from "./search.ts";

/** The maximum number of steps to search the history of one object, which take a few seconds. */
export const STEPS_MAX = 300_000;

export interface Verdict {
  readonly model: string;
  readonly key: string;
  readonly operations: number;
  readonly unanswered: number;
  readonly result: "linearizable" | "not linearizable" | "undecided";
  /** Texts of the operations that no order explains; filled only for the result "not linearizable". */
  readonly blocked: readonly string[];
}

/** Checks whether a history is linearizable. Returns a verdict for each object in the history. */
export function check<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  operations: readonly Operation<Call, Answer>[],
  stepsMax = STEPS_MAX,
): Verdict[] {
  const byKey = Map.groupBy(operations, ({ call }) => model.keyOf(call));
  return [...byKey].map(([key, of]) => {
    const { result, blocked } = searchOrder(model, key, of, stepsMax);
    return {
      model: model.name,
      key,
      operations: of.length,
      unanswered: of.filter(({ answer }) => answer === null).length,
      result,
      blocked: blocked.map(textOf),
    };
  });
}

function textOf({ call, answer }: Operation<unknown, unknown>): string {
  return `${JSON.stringify(call)} → ${answer === null ? "no answer" : JSON.stringify(answer)}`;
}
