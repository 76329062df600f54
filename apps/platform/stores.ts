import { type CounterStore, openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";

/** The stores that the four services of one process share. */
export interface SharedStores {
  readonly database: Database;
  readonly routeStore: RouteStore;
  readonly counterStore: CounterStore;
  close(): Promise<void>;
}

export interface StoreUrls {
  database_url: string;
  route_store_url: string;
  counter_store_url: string;
}

export async function openStores(urls: StoreUrls): Promise<SharedStores> {
  const database = await openDatabase(urls.database_url, { namespace: "platform" });
  const routeStore = await openRouteStore(urls.route_store_url);
  const counterStore = await openCounterStore(urls.counter_store_url);
  return {
    database,
    routeStore,
    counterStore,
    async close() {
      await Promise.allSettled([counterStore.close(), routeStore.close()]);
      await database.close();
    },
  };
}
