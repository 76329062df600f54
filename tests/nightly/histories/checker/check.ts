import type { Model, Operation } from "./model.ts";
import { searchOrder } from "./search.ts";

export interface Verdict {
  readonly model: string;
  readonly key: string;
  readonly operations: number;
  readonly open: number;
  readonly result: "linearizable" | "not linearizable" | "undecided";
  /** Texts of the operations that no order explains; filled only for the result "not linearizable". */
  readonly blocked: readonly string[];
}

/** Checks whether a history is linearizable. Returns a verdict for each object in the history. */
export function check<State, Call, Outcome>(
  model: Model<State, Call, Outcome>,
  operations: readonly Operation<Call, Outcome>[],
): Verdict[] {
  const byKey = Map.groupBy(operations, ({ call }) => model.keyOf(call));
  return [...byKey].map(([key, of]) => {
    const { result, blocked } = searchOrder(model, key, of);
    return {
      model: model.name,
      key,
      operations: of.length,
      open: of.filter(({ outcome }) => outcome === null).length,
      result,
      blocked: blocked.map(textOf),
    };
  });
}

function textOf({ call, outcome }: Operation<unknown, unknown>): string {
  return `${JSON.stringify(call)} → ${outcome === null ? "no response" : JSON.stringify(outcome)}`;
}
