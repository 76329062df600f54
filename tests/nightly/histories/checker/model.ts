/**
 * A sequential specification of one kind of object: what each call may answer when calls run one at a time. A
 * history is linearizable if some order of its calls matches the model.
 */
export interface Model<State, Call, Answer> {
  readonly name: string;
  /**
   * Returns the key of the object that a call uses. Histories of different objects are checked separately.
   */
  keyOf(call: Call): string;
  begin(key: string): State;
  /**
   * Returns the state after a call, or null if the call cannot give this answer in this state. If `answer` is
   * null, the client saw no answer, so every answer is possible.
   */
  step(state: State, call: Call, answer: Answer | null): State | null;
  /** Returns whether a call with this answer never changes the state: a read, or a refused write. */
  leavesState(call: Call, answer: Answer | null): boolean;
  /** Returns a text that is equal for equal states. */
  textOf(state: State): string;
}

/** A call of a client with its answer. Times are positions in the total order of all calls and answers. */
export interface Operation<Call, Answer> {
  readonly call: Call;
  /**
   * The answer; null if the client saw none. A call without an answer may take effect at any later time, or
   * never.
   */
  readonly answer: Answer | null;
  readonly calledAt: number;
  /** The time of the answer; infinity if the client saw no answer. */
  readonly answeredAt: number;
}
