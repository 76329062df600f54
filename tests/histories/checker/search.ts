import type { Model, Operation } from "./model.ts";

const HEAD = 0;

/** The result of a search, with the operations that it could not place. */
export interface Found<Call, Answer> {
  readonly result: "linearizable" | "not linearizable" | "undecided";
  readonly steps: number;
  /** The operations that were open where the longest order ended; empty unless no order exists. */
  readonly blocked: readonly Operation<Call, Answer>[];
}

/** An operation in the order, with the state before it. */
interface Placed<State> {
  readonly operation: number;
  readonly before: State;
  /** Whether an order exists with this operation here, if any order exists from here on. */
  readonly is_certain: boolean;
}

/**
 * Searches an order of the operations on one object that its model allows and that keeps every answer before
 * the calls that followed it. This is the algorithm of Wing and Gong with the memo of Lowe. After `steps_max`
 * steps the search ends undecided.
 *
 * Three rules keep the search small, and exclude no order. An operation that leaves every state as it is takes the
 * first place where it is allowed. Among equal calls without an answer the earliest takes effect first. A call without
 * an answer is placed only where it changes the state.
 */
export function searchOrder<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  key: string,
  all: readonly Operation<Call, Answer>[],
  steps_max: number,
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
    if (++steps > steps_max) return { result: "undecided", steps, blocked: [] };
    const index = events.operationOf(event);
    const operation = operations[index];
    if (operation !== undefined && events.isCall(event)) {
      const next = events.isPlaced(equals[index]) ? nextState(model, state, operation) : null;
      if (next !== null && isNew(memo, `${events.placedWith(index)}|${model.textOf(next)}`)) {
        placed.push({
          operation: index,
          before: state,
          is_certain: isCertain(model, state, operation, next),
        });
        state = next;
        events.take(index);
        event = events.after(HEAD);
      } else event = events.after(event);
      continue;
    }
    // An answer comes before any operation that could still be placed, so the last uncertain placement was wrong.
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

/** Returns the state after an operation; null when it cannot be placed in a state, or has no effect there. */
function nextState<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  state: State,
  { call, answer }: Operation<Call, Answer>,
): State | null {
  const next = model.step(state, call, answer);
  if (next === null || answer !== null) return next;
  return model.textOf(next) === model.textOf(state) ? null : next;
}

/** @throws when the model says that the operation leaves every state, and it does not leave this one */
function isCertain<State, Call, Answer>(
  model: Model<State, Call, Answer>,
  state: State,
  { call, answer }: Operation<Call, Answer>,
  next: State,
): boolean {
  if (!model.leavesState(call, answer)) return false;
  if (model.textOf(next) === model.textOf(state)) return true;
  throw new Error(`The model of ${model.name} leaves no state as it is by ${JSON.stringify(call)}.`);
}

/** Puts operations back up to the last one that another place could suit, and returns that one. */
function takeBack<State>(placed: Placed<State>[], events: Events): Placed<State> | undefined {
  for (let last = placed.pop(); last !== undefined; last = placed.pop()) {
    events.putBack(last.operation);
    if (!last.is_certain) return last;
  }
  return undefined;
}

/** Returns for each operation the equal one without an answer that was called before it, if any. */
function earlierEquals(operations: readonly Operation<unknown, unknown>[]): (number | undefined)[] {
  const before = operations.map((): number | undefined => undefined);
  const last = new Map<string, number>();
  const open = operations.flatMap(({ answer, called_at }, index) =>
    answer === null ? [{ index, called_at }] : [],
  );
  for (const { index } of open.toSorted((a, b) => a.called_at - b.called_at)) {
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
 * The calls and answers that are not placed yet, as a linked list in the order of their times. Operation `n`
 * has the events `2n + 1`, its call, and `2n + 2`, its answer.
 */
class Events {
  /** The number of answered operations that are not placed. */
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
    const timed = operations.flatMap(({ called_at, answered_at, answer }, index) => [
      { at: called_at, event: this.callOf(index) },
      ...(answer === null ? [] : [{ at: answered_at, event: this.callOf(index) + 1 }]),
    ]);
    // Calls come first among events of one time: they may be concurrent with the answers of that time.
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

  /** Returns whether an operation is placed; true for none. */
  isPlaced(operation: number | undefined): boolean {
    return operation === undefined || ((this.#placed[operation >> 3] ?? 0) & (1 << (operation & 7))) !== 0;
  }

  /** Returns a text for the placed operations together with one more. */
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

  /** Returns the operations that are called before an event and not placed, and the event's own. */
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
