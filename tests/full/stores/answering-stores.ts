import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { everyCall } from "../../stores/route-store-calls.ts";
import { waitFor } from "../../support/index.ts";

/**
 * Expects that most of `stores` new stores succeed with every call, although each starts with a random
 * endpoint, which may be a bad one. Retries, because etcd may hold an election on a busy machine.
 */
export async function expectAnswers(url: string, stores = 4): Promise<void> {
  const answers = async () => {
    const store = await openRouteStore(url);
    const results = await Promise.allSettled(everyCall(store, 5_000));
    await store.close();
    return results.every(({ status }) => status === "fulfilled");
  };
  await waitFor(
    async () => {
      const answered = await Promise.all(Array.from({ length: stores }, answers));
      return answered.filter(Boolean).length > stores / 2;
    },
    { timeoutMs: 60_000, what: "most stores to answer" },
  );
}
