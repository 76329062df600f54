import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";

/** Runs `work` in a transaction that stays open, with its locks, until the test ends it. Resolves after `work`. */
export async function heldTransaction(database: Database, work: (tx: Orm) => Promise<unknown>) {
  const done = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const hold = async (tx: Orm) => {
    await work(tx);
    done.resolve();
    await held.promise;
  };
  const transaction = database.transaction("hold", hold, { lane: "held" });
  await done.promise;
  return {
    commit() {
      held.resolve();
      return transaction;
    },
    async rollBack() {
      held.reject(new Error("rolled back"));
      await transaction.catch(() => {});
    },
  };
}
