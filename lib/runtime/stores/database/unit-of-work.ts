import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Knows whether the current call runs inside a transaction. There, `Database.run` and `Database.transaction`
 * would use another connection: they would not see the transaction's writes, and would wait for ever on an
 * embedded database or a pool that is in use. They refuse instead.
 */
export class UnitOfWork {
  readonly #current = new AsyncLocalStorage<{ open: boolean }>();

  async enter<T>(work: () => Promise<T>): Promise<T> {
    const unit = { open: true };
    try {
      return await this.#current.run(unit, work);
    } finally {
      // What the work left running in the background keeps this context for ever.
      unit.open = false;
    }
  }

  refuseNesting(): void {
    if (this.#current.getStore()?.open) {
      throw new Error("Inside a transaction use its own `tx`, not the database.");
    }
  }
}
