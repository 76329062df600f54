/**
 * A sequential specification of one kind of object: the outcomes that a call may have when calls run one at a time. A
 * history is linearizable if some order of its calls matches the model.
 */
export interface Model<State, Call, Outcome> {
  readonly name: string;
  /**
   * Returns the key of the object that a call uses. Histories of different objects are checked separately.
   */
  keyOf(call: Call): string;
  begin(key: string): State;
  /**
   * Returns the state after a call, or null if the call cannot have this outcome in this state. If `outcome` is
   * null, the client saw no response, so every outcome is possible.
   */
  step(state: State, call: Call, outcome: Outcome | null): State | null;
  /** Returns whether a call with this outcome never changes the state: a read, or a refused write. */
  leavesState(call: Call, outcome: Outcome | null): boolean;
  /** Returns a text that is equal for equal states. */
  textOf(state: State): string;
}

/** A call of a client with its outcome. Times are positions in the total order of all calls and responses. */
export interface Operation<Call, Outcome> {
  readonly call: Call;
  /**
   * The outcome; null if the client saw none. A call without a response may take effect at any later time, or
   * never.
   */
  readonly outcome: Outcome | null;
  readonly calledAt: number;
  /** The time of the response; infinity if the client saw no response. */
  readonly respondedAt: number;
}
