import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Refuses nested calls. Inside a transaction, a call on the database would use another connection: it would not see the
 * transaction's writes, and would wait forever for an embedded database or a full pool.
 */
export class UnitOfWork {
  readonly #current = new AsyncLocalStorage<{ open: boolean }>();

  async enter<T>(work: () => Promise<T>): Promise<T> {
    const unit = { open: true };
    try {
      return await this.#current.run(unit, work);
    } finally {
      // Background work can outlive the transaction and still have this context.
      unit.open = false;
    }
  }

  refuseNesting(): void {
    if (this.#current.getStore()?.open) {
      throw new Error("Inside a transaction use its own `tx`, not the database.");
    }
  }
}
