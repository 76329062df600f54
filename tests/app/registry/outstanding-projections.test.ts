/** Tests `GET /projections` with a route store that can be read, but refuses writes while it is full. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { forwarding } from "../../support/gateway/loading-gateway.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { service, useRegistry } from "./bed.ts";

const LOG_FILE = join(temporaryFolder("log"), "registry.log");
let full = false;
let held = Promise.resolve();
let listings = 0;
const written: string[] = [];
const store = memoryRouteStore();
const registry = useRegistry({
  routeStore: {
    ...forwarding(store),
    list: (prefix) => {
      listings += 1;
      return store.list(prefix);
    },
    writeFenced: async (write) => {
      if (full) throw new Error("no space for the key");
      written.push(write.key);
      await held;
      return store.writeFenced(write);
    },
  },
  env: { RECONCILE_FULL_INTERVAL_MS: "20", LOG_FILE },
});

const outstanding = async () => (await registry.call("GET", "/projections")).body.outstanding;
const names = async () => (await outstanding()).map(({ service }: { service: string }) => service).sort();

const isLogged = async (message: string) => (await Bun.file(LOG_FILE).text()).includes(message);

// RG-83
test("GET /projections lists services, including deleted ones, until the route store has their newest revision", async () => {
  await registry.put("kept", service("/kept"));
  await registry.put("going", service("/going"));
  await waitFor(async () => (await outstanding()).length === 0);
  full = true;
  await registry.put("late", service("/late"));
  await waitFor(() => isLogged("projection to the route store failed"));
  await registry.call("DELETE", "/services/going");
  expect(await names()).toEqual(["going", "late"]);
  const ages = (await outstanding()).map(({ age_seconds }: { age_seconds: number }) => age_seconds);
  expect(ages).toEqual(ages.toSorted((a: number, b: number) => b - a));
  full = false;
  await waitFor(async () => (await outstanding()).length === 0);
});

// RG-80
test("a comparison of all keys leaves a service to its outstanding projection", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  await registry.put("slow", service("/slow"));
  const before = listings;
  await waitFor(() => listings >= before + 3, { what: "two whole comparisons" });
  expect(written.filter((key) => key === `${ROUTES_PREFIX}slow`)).toHaveLength(1);
  resolve();
  await waitFor(async () => (await outstanding()).length === 0);
});

// RG-80
test("a key that cannot be repaired is logged, and repaired later", async () => {
  const key = `${ROUTES_PREFIX}kept`;
  full = true;
  await store.delete(key);
  await waitFor(() => isLogged("comparison with the route store failed"));
  full = false;
  await waitFor(async () => (await store.list(key)).entries.length === 1);
});
