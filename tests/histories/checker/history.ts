import type { Operation } from "./model.ts";

/** The error for a request that no server can have received. Its operation did not happen. */
export class NeverSent extends Error {
  constructor() {
    super("No replica accepted a connection.");
    this.name = "NeverSent";
  }
}

/** The record of calls and answers of concurrent clients. */
export class History<Call, Answer> {
  readonly #operations: Operation<Call, Answer>[] = [];
  #now = 0;

  get operations(): readonly Operation<Call, Answer>[] {
    return this.#operations;
  }

  /** Records a call with its answer, and returns the answer. `ask` returns null when it saw no answer. */
  async record(call: Call, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const called_at = this.#now++;
    try {
      const answer = await ask();
      const answered_at = answer === null ? Number.POSITIVE_INFINITY : this.#now++;
      this.#operations.push({ call, answer, called_at, answered_at });
      return answer;
    } catch (error) {
      if (error instanceof NeverSent) return null;
      throw error;
    }
  }
}

/**
 * Gives unanswered writes the answers that the product's own records show. `settle` returns the answer of a
 * write that took effect, null for one that did not, and undefined where that is unknown.
 */
export function settled<Call, Answer>(
  operations: readonly Operation<Call, Answer>[],
  settle: (call: Call) => Answer | null | undefined,
): Operation<Call, Answer>[] {
  return operations.flatMap((operation) => {
    if (operation.answer !== null) return [operation];
    const answer = settle(operation.call);
    if (answer === undefined) return [operation];
    return answer === null ? [] : [{ ...operation, answer }];
  });
}
