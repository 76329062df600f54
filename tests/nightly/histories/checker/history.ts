import { NeverSent } from "../../faults/system/asking.ts";
import type { Operation } from "./model.ts";

/** The history of concurrent clients: their calls and outcomes, with the order of calls and responses. */
export class History<Call, Outcome> {
  readonly #operations: Operation<Call, Outcome>[] = [];
  #now = 0;

  get operations(): readonly Operation<Call, Outcome>[] {
    return this.#operations;
  }

  /**
   * Calls `ask`, records `call` with the outcome, and returns the outcome. The outcome is null if the client saw
   * none. Records nothing if `ask` throws {@link NeverSent}.
   */
  async record(call: Call, ask: () => Promise<Outcome | null>): Promise<Outcome | null> {
    const calledAt = this.#now++;
    try {
      const outcome = await ask();
      const respondedAt = outcome === null ? Number.POSITIVE_INFINITY : this.#now++;
      this.#operations.push({ call, outcome, calledAt, respondedAt });
      return outcome;
    } catch (error) {
      if (error instanceof NeverSent) return null;
      throw error;
    }
  }
}

/**
 * Completes the operations without a response from the product's own records, such as a list of revisions.
 * `settle` returns the outcome of a call that took effect, null for a call that did not, and undefined if
 * neither is known.
 */
export function settled<Call, Outcome>(
  operations: readonly Operation<Call, Outcome>[],
  settle: (call: Call) => Outcome | null | undefined,
): Operation<Call, Outcome>[] {
  return operations.flatMap((operation) => {
    if (operation.outcome !== null) return [operation];
    const outcome = settle(operation.call);
    if (outcome === undefined) return [operation];
    return outcome === null ? [] : [{ ...operation, outcome }];
  });
}
