/**
 * The claim about one kind of object, as a program that runs one call at a time. A history is right when its
 * calls can be put in such an order.
 */
export interface Model<State, Call, Answer> {
  readonly name: string;
  /** Returns the object that a call is about. Calls of different objects do not concern each other. */
  keyOf(call: Call): string;
  /** Returns the state of an object before the first call. */
  begin(key: string): State;
  /**
   * Returns the state after a call, or null when the call cannot give this answer in this state. An answer of
   * null was never seen: every answer is possible then.
   */
  step(state: State, call: Call, answer: Answer | null): State | null;
  /** Returns whether a call with this answer leaves every state as it is: a read, or a refused write. */
  leavesState(call: Call, answer: Answer | null): boolean;
  /** Returns the same text for equal states. */
  textOf(state: State): string;
}

/** One call of a client with its answer. Times are places in one order of all calls and answers. */
export interface Operation<Call, Answer> {
  readonly call: Call;
  /** The answer; null when none was seen. The call may then take effect at any later time, or never. */
  readonly answer: Answer | null;
  readonly called_at: number;
  /** Infinity when no answer was seen. */
  readonly answered_at: number;
}
