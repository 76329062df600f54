import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { type Client, fields, projected, service, startRegistryProcess } from "../../../app/registry/bed.ts";
import {
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  waitFor,
} from "../../../support/index.ts";

const ROUTES = 10_000;

describe.skipIf(!services().etcd.real)("a registry given large documents", () => {
  let registry: RunningProcess & Client;
  let routeStore: RouteStore;

  beforeAll(async () => {
    const ROUTE_STORE_URL = await freshRouteStoreUrl();
    routeStore = await openRouteStore(ROUTE_STORE_URL);
    registry = await startRegistryProcess({ DATABASE_URL: await freshDatabase(), ROUTE_STORE_URL });
  });
  afterAll(async () => {
    await registry.stop();
    await routeStore.close();
  });

  test("publishes 10 000 routes of one service, and publishes the same again", async () => {
    const config = service(...Array.from({ length: ROUTES }, (_, n) => `/one/${n}/{id}`));
    for (const revision of [1, 2]) {
      const answer = await registry.apply({ large: config });
      expect(answer.body.results).toEqual([{ service: "large", status: "upserted", revision }]);
    }
    await waitFor(async () => Bun.deepEquals((await projected(routeStore)).large, config));
    const found = await registry.call("GET", "/routes?method=GET&path=/one/9999/7");
    expect(found.body).toMatchObject({ service: "large", params: { id: "7" } });
    const conflict = await registry.put("small", service("/small", "/one/5000/{other}"));
    expect(conflict.body.error.details.conflicts).toHaveLength(1);
  });

  // RG-30, RG-42
  test("lists at most a hundred of thousands of violations or conflicts", async () => {
    const wrong = service(...Array.from({ length: ROUTES }, (_, n) => `/Upper/${n}/`));
    expect(fields(await registry.put("wrong", wrong))).toHaveLength(100);
    const owned = service(...Array.from({ length: 5_000 }, (_, n) => `/owned/${n}`));
    await registry.put("owner", owned);
    const answer = await registry.put("thief", { url: owned.url, member: owned.user });
    expect(answer.status).toBe(409);
    expect(answer.body.error.details.conflicts).toHaveLength(100);
    expect(answer.body.error.message).toContain("and 4900 more");
  });
});
