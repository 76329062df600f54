import { NeverSent } from "../../faults/system/asking.ts";
import type { Operation } from "./model.ts";

/** The history of concurrent clients: their calls, with the answers and the order of both. */
export class History<Call, Answer> {
  readonly #operations: Operation<Call, Answer>[] = [];
  #now = 0;

  get operations(): readonly Operation<Call, Answer>[] {
    return this.#operations;
  }

  /**
   * Calls `ask`, records `call` with the answer, and returns the answer. The answer is null if the client saw
   * none. Records nothing if `ask` throws {@link NeverSent}.
   */
  async record(call: Call, ask: () => Promise<Answer | null>): Promise<Answer | null> {
    const calledAt = this.#now++;
    try {
      const answer = await ask();
      const answeredAt = answer === null ? Number.POSITIVE_INFINITY : this.#now++;
      this.#operations.push({ call, answer, calledAt, answeredAt });
      return answer;
    } catch (error) {
      if (error instanceof NeverSent) return null;
      throw error;
    }
  }
}

/**
 * Completes the operations without an answer from the product's own records, such as a list of revisions.
 * `settle` returns the answer of a call that took effect, null for a call that did not, and undefined if
 * neither is known.
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
