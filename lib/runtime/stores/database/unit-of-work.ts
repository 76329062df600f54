import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Detects nested calls and refuses them. Inside a transaction, `Database.run` and `Database.transaction`
 * would use another connection. They would not see the transaction's writes, and would wait forever on an
 * embedded database or a full pool.
 */
export class UnitOfWork {
  readonly #current = new AsyncLocalStorage<{ open: boolean }>();

  async enter<T>(work: () => Promise<T>): Promise<T> {
    const unit = { open: true };
    try {
      return await this.#current.run(unit, work);
    } finally {
      // Background work can keep this context after the transaction has ended.
      unit.open = false;
    }
  }

  refuseNesting(): void {
    if (this.#current.getStore()?.open) {
      throw new Error("Inside a transaction use its own `tx`, not the database.");
    }
  }
}
