import type { Model, Operation } from "./model.ts";

const HEAD = 0;

/** The result of a search for a linearization. */
export interface Found<Call, Answer> {
  readonly result: "linearizable" | "not linearizable" | "undecided";
  readonly steps: number;
  /** The operations that cannot follow the longest valid order; filled only for "not linearizable". */
  readonly blocked: readonly Operation<Call, Answer>[];
}

/** A linearized operation, with the state before it. */
interface Placed<State> {
  readonly operation: number;
  readonly before: State;
  /** Whether backtracking can skip this operation, because a different choice here cannot help. */
  readonly isCertain: boolean;
}

/**
 * Searches for a linearization of the operations on one object: an order that the model allows, in which an
 * operation that was answered before a call precedes that call. The search is the algorithm of Wing and Gong
 * with the memoization of Lowe. After `stepsMax` steps, the result is "undecided".
 *
 * Three rules prune the search without excluding a linearization. An operation that never changes the state
 * is linearized as soon as the model allows it. Among equal calls without an answer, the earliest one takes
 * effect first. A call without an answer is linearized only where it changes the state.
 */
export function searchOrder<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  key: string,
  all: readonly Operation<Call, Answer>[],
  stepsMax: number,
): Found<Call, Answer> {
  const operations = all.filter(({ call, answer }) => answer !== null || !model.leavesState(call, null));
  const events = new Events(operations);
  const equals = earlierEquals(operations);
  const memo = new Set<string>();
  const placed: Placed<State>[] = [];
  let state = model.begin(key);
  let longest: { readonly length: number; readonly open: readonly number[] } = { length: -1, open: [] };
  let steps = 0;
  let event = events.after(HEAD);
  while (events.unplaced > 0) {
    if (++steps > stepsMax) return { result: "undecided", steps, blocked: [] };
    const index = events.operationOf(event);
    const operation = operations[index];
    if (operation !== undefined && events.isCall(event)) {
      const next = events.isPlaced(equals[index]) ? nextState(model, state, operation) : null;
      if (next !== null && isNew(memo, `${events.placedWith(index)}|${model.textOf(next)}`)) {
        placed.push({
          operation: index,
          before: state,
          isCertain: isCertain(model, state, operation, next),
        });
        state = next;
        events.take(index);
        event = events.after(HEAD);
      } else event = events.after(event);
      continue;
    }
    // The next event is the answer of an operation that is not linearized yet: backtrack to the last
    // uncertain choice.
    if (placed.length > longest.length) longest = { length: placed.length, open: events.openBefore(event) };
    const last = takeBack(placed, events);
    if (last === undefined) {
      const blocked = longest.open.flatMap((open) => operations[open] ?? []);
      return { result: "not linearizable", steps, blocked };
    }
    state = last.before;
    event = events.after(events.callOf(last.operation));
  }
  return { result: "linearizable", steps, blocked: [] };
}

/**
 * Returns the state after an operation. Returns null if the model does not allow the operation in this state.
 * Also returns null if a call without an answer does not change the state: the search places such a call only
 * where it has an effect.
 */
function nextState<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  state: State,
  { call, answer }: Operation<Call, Answer>,
): State | null {
  const next = model.step(state, call, answer);
  if (next === null || answer !== null) return next;
  return model.textOf(next) === model.textOf(state) ? null : next;
}

/**
 * Returns whether the operation never changes the state, so that it can be linearized at once.
 *
 * @throws Error if the model says that the operation never changes the state, but the operation changes this
 * state
 */
function isCertain<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  state: State,
  { call, answer }: Operation<Call, Answer>,
  next: State,
): boolean {
  if (!model.leavesState(call, answer)) return false;
  if (model.textOf(next) === model.textOf(state)) return true;
  throw new Error(
    `The model "${model.name}" is wrong: ${JSON.stringify(call)} changes the state, but leavesState returns true.`,
  );
}

/**
 * Backtracks: undoes operations up to the last one that was not certain. Returns that operation, if there is
 * one.
 */
function takeBack<State>(placed: Placed<State>[], events: Events): Placed<State> | undefined {
  for (let last = placed.pop(); last !== undefined; last = placed.pop()) {
    events.putBack(last.operation);
    if (!last.isCertain) return last;
  }
  return undefined;
}

/**
 * Returns, for each operation without an answer, the index of the previous equal call without an answer. The
 * index is undefined if there is no such call.
 */
function earlierEquals(operations: readonly Operation<unknown, unknown>[]): (number | undefined)[] {
  const before = operations.map((): number | undefined => undefined);
  const last = new Map<string, number>();
  const open = operations.flatMap(({ answer, calledAt }, index) =>
    answer === null ? [{ index, calledAt }] : [],
  );
  for (const { index } of open.toSorted((a, b) => a.calledAt - b.calledAt)) {
    const text = JSON.stringify(operations[index]?.call);
    before[index] = last.get(text);
    last.set(text, index);
  }
  return before;
}

function isNew(memo: Set<string>, text: string): boolean {
  const size = memo.size;
  return memo.add(text).size > size;
}

/**
 * The calls and answers of operations that are not linearized yet, as a linked list in the order of their
 * times. The call of operation `n` is event `2n + 1`, and its answer is event `2n + 2`.
 */
class Events {
  /** The number of answered operations that are not linearized yet. */
  unplaced = 0;
  readonly #next: Int32Array;
  readonly #previous: Int32Array;
  readonly #answered: readonly boolean[];
  readonly #placed: Uint8Array;
  readonly #tail: number;

  constructor(operations: readonly Operation<unknown, unknown>[]) {
    this.#tail = 2 * operations.length + 1;
    this.#next = new Int32Array(this.#tail + 1);
    this.#previous = new Int32Array(this.#tail + 1);
    this.#answered = operations.map(({ answer }) => answer !== null);
    this.#placed = new Uint8Array(Math.ceil(operations.length / 8));
    this.unplaced = this.#answered.filter(Boolean).length;
    const timed = operations.flatMap(({ calledAt, answeredAt, answer }, index) => [
      { at: calledAt, event: this.callOf(index) },
      ...(answer === null ? [] : [{ at: answeredAt, event: this.callOf(index) + 1 }]),
    ]);
    // At equal times, calls precede answers, because such operations count as concurrent.
    timed.sort((a, b) =>
      a.at === b.at ? Number(this.isCall(b.event)) - Number(this.isCall(a.event)) : a.at - b.at,
    );
    let last = HEAD;
    for (const { event } of timed) {
      this.#join(last, event);
      last = event;
    }
    this.#join(last, this.#tail);
  }

  callOf(operation: number): number {
    return 2 * operation + 1;
  }

  operationOf(event: number): number {
    return (event - 1) >> 1;
  }

  isCall(event: number): boolean {
    return event % 2 === 1 && event !== this.#tail;
  }

  after(event: number): number {
    return this.#next[event] ?? this.#tail;
  }

  /** Returns whether an operation is linearized. Returns true for undefined. */
  isPlaced(operation: number | undefined): boolean {
    return operation === undefined || ((this.#placed[operation >> 3] ?? 0) & (1 << (operation & 7))) !== 0;
  }

  /** Returns a text that identifies the set of linearized operations after adding `operation`. */
  placedWith(operation: number): string {
    this.#mark(operation);
    const text = Buffer.from(this.#placed).toString("latin1");
    this.#mark(operation);
    return text;
  }

  take(operation: number): void {
    this.#mark(operation);
    this.#remove(this.callOf(operation));
    if (this.#answered[operation] !== true) return;
    this.#remove(this.callOf(operation) + 1);
    this.unplaced -= 1;
  }

  putBack(operation: number): void {
    this.#mark(operation);
    if (this.#answered[operation] === true) {
      this.#insert(this.callOf(operation) + 1);
      this.unplaced += 1;
    }
    this.#insert(this.callOf(operation));
  }

  openBefore(event: number): number[] {
    const open: number[] = [];
    for (let each = this.after(HEAD); each !== event; each = this.after(each))
      open.push(this.operationOf(each));
    return open;
  }

  #mark(operation: number): void {
    const byte = operation >> 3;
    this.#placed[byte] = (this.#placed[byte] ?? 0) ^ (1 << (operation & 7));
  }

  #join(before: number, after: number): void {
    this.#next[before] = after;
    this.#previous[after] = before;
  }

  #remove(event: number): void {
    this.#join(this.#previous[event] ?? HEAD, this.after(event));
  }

  #insert(event: number): void {
    const before = this.#previous[event] ?? HEAD;
    const after = this.after(event);
    this.#next[before] = event;
    this.#previous[after] = event;
  }
}
