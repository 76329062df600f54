/** Tests `GET /projections` with a route store that can be read, but refuses writes while it is full. */
import { expect, test } from "bun:test";
import { memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { forwarding } from "../../support/gateway/loading-gateway.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { useRegistry } from "./bed.ts";
import { service } from "./harness.ts";

let full = false;
const store = memoryRouteStore();
const registry = useRegistry({
  routeStore: {
    ...forwarding(store),
    writeFenced: (write) =>
      full ? Promise.reject(new Error("no space for the key")) : store.writeFenced(write),
  },
});

const outstanding = async () => (await registry.call("GET", "/projections")).body.outstanding;
const names = async () => (await outstanding()).map(({ service }: { service: string }) => service).sort();

// RG-83
test("GET /projections lists services, including deleted ones, until the route store has their newest revision", async () => {
  await registry.put("kept", service("/kept"));
  await registry.put("going", service("/going"));
  await waitFor(async () => (await outstanding()).length === 0);
  full = true;
  await registry.put("late", service("/late"));
  await registry.call("DELETE", "/services/going");
  expect(await names()).toEqual(["going", "late"]);
  const ages = (await outstanding()).map(({ age_seconds }: { age_seconds: number }) => age_seconds);
  expect(ages).toEqual(ages.toSorted((a: number, b: number) => b - a));
  full = false;
  await waitFor(async () => (await outstanding()).length === 0);
});
