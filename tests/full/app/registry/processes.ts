import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { startRegistryProcess } from "../../../app/registry/bed.ts";
import { duringTests } from "../../../support/during-tests.ts";
import { freshDatabase, freshRouteStoreUrl } from "../../../support/index.ts";

/** Starts so many registry processes on one database and one route store for all tests of a `describe`. */
export function useRegistryProcesses(count: number) {
  return duringTests(async () => {
    const env = { DATABASE_URL: await freshDatabase(), ROUTE_STORE_URL: await freshRouteStoreUrl() };
    const routeStore = await openRouteStore(env.ROUTE_STORE_URL);
    const registries = await Promise.all(Array.from({ length: count }, () => startRegistryProcess(env)));
    return {
      routeStore,
      /** Returns one of the processes; the numbers start again after the last one. */
      registry(n = 0) {
        const chosen = registries[n % count];
        if (chosen === undefined) throw new Error("No registry is running.");
        return chosen;
      },
      async [Symbol.asyncDispose]() {
        await Promise.all(registries.map((each) => each.stop()));
        await routeStore.close();
      },
    };
  });
}
