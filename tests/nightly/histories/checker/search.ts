import type { Model, Operation } from "./model.ts";

/** The maximum number of steps to search the history of one object, which take a few seconds. */
const STEPS_MAX = 300_000;

/** The result of a search for a linearization. */
interface Found<Call, Outcome> {
  readonly result: "linearizable" | "not linearizable" | "undecided";
  /** The operations that cannot follow the longest valid order; filled only for "not linearizable". */
  readonly blocked: readonly Operation<Call, Outcome>[];
}

/**
 * Searches for a linearization of the operations on one object: an order that the model allows, in which an
 * operation that ended before a call precedes that call. The search is the algorithm of Wing and Gong with the
 * memoization of Lowe. After too many steps, the result is "undecided".
 *
 * Three rules prune the search without excluding a linearization. An operation that never changes the state
 * is linearized as soon as the model allows it, because no other choice can help then. Among equal
 * calls without a response, the earliest one takes effect first. A call without a response is linearized only
 * where it changes the state.
 */
export function searchOrder<State, Call, Outcome>(
  model: Model<State, Call, Outcome>,
  key: string,
  all: readonly Operation<Call, Outcome>[],
): Found<Call, Outcome> {
  const operations = all
    .filter(({ call, outcome }) => outcome !== null || !model.leavesState(call, null))
    .toSorted((a, b) => a.calledAt - b.calledAt)
    .map((operation, number) => ({ ...operation, number, text: JSON.stringify(operation.call) }));
  type Numbered = (typeof operations)[number];
  const memo = new Set<string>();
  let longest: { left: number; blocked: readonly Numbered[] } = { left: operations.length + 1, blocked: [] };
  let steps = 0;

  /** Returns whether the operations that are left have an order, or null after too many steps. */
  function hasOrder(left: readonly Numbered[], state: State): boolean | null {
    if (left.every(({ outcome }) => outcome === null)) return true;
    const endedAt = Math.min(...left.map(({ respondedAt }) => respondedAt));
    const possible = left.filter(({ calledAt }) => calledAt <= endedAt);
    for (const { operation, next, isCertain } of choicesIn(possible, state)) {
      if (steps > STEPS_MAX) return null;
      const others = left.filter((other) => other !== operation);
      const place = `${others.map(({ number }) => number)}|${model.textOf(next)}`;
      const found = isNew(memo, place) && hasOrder(others, next);
      if (found !== false) return found;
      if (isCertain) return false;
    }
    if (left.length < longest.left) longest = { left: left.length, blocked: possible };
    return false;
  }

  /** Yields the operations that the model allows in a state, each with the state after it. */
  function* choicesIn(possible: readonly Numbered[], state: State) {
    const openCalls = new Set<string>();
    for (const operation of possible) {
      const { call, outcome, text } = operation;
      if (outcome === null && !isNew(openCalls, text)) continue;
      steps += 1;
      const next = nextState(model, state, operation);
      if (next !== null) yield { operation, next, isCertain: model.leavesState(call, outcome) };
    }
  }

  const found = hasOrder(operations, model.begin(key));
  if (found === null) return { result: "undecided", blocked: [] };
  return found
    ? { result: "linearizable", blocked: [] }
    : { result: "not linearizable", blocked: longest.blocked };
}

/**
 * Returns the state after an operation. Returns null if the model does not allow the operation in this state, and for
 * a call without a response that does not change the state.
 *
 * @throws Error if the model says that the operation never changes the state, but the operation changes this state
 */
function nextState<State, Call, Outcome>(
  model: Model<State, Call, Outcome>,
  state: State,
  { call, outcome }: Operation<Call, Outcome>,
): State | null {
  const next = model.step(state, call, outcome);
  if (next === null) return null;
  const isSame = model.textOf(next) === model.textOf(state);
  if (!isSame && model.leavesState(call, outcome)) {
    const text = JSON.stringify(call);
    throw new Error(
      `The model "${model.name}" is wrong: ${text} changes the state, but leavesState returns true.`,
    );
  }
  return isSame && outcome === null ? null : next;
}

function isNew(known: Set<string>, text: string): boolean {
  return known.size < known.add(text).size;
}
