import { peerTls } from "@ostiary/lib/runtime/config";
import { type CounterStore, openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { PlatformConfig } from "./config.ts";

/** The stores that the four services of one process share. */
export interface SharedStores {
  readonly database: Database;
  readonly routeStore: RouteStore;
  readonly counterStore: CounterStore;
  close(): Promise<void>;
}

export async function openStores(databaseUrl: string, config: PlatformConfig): Promise<SharedStores> {
  const database = await openDatabase(databaseUrl, {
    namespace: "platform",
    tls: peerTls(config, "DATABASE"),
  });
  const routeStore = await openRouteStore(config.ROUTE_STORE_URL, { tls: peerTls(config, "ROUTE_STORE") });
  const counterStore = await openCounterStore(config.COUNTER_STORE_URL, {
    tls: peerTls(config, "COUNTER_STORE"),
  });
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
