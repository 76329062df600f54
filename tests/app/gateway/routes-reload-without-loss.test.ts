/** Tests that the gateway applies changes of published routes without losing requests (GW-21 to GW-29). */
import { afterEach, expect, test } from "bun:test";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { publicService } from "../../support/gateway/gateway.ts";
import { OK } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useGateway, useService } from "./bed.ts";

const service = useService();
const gateway = useGateway();

afterEach(async () => {
  const { entries } = await gateway.routes.list(ROUTES_PREFIX);
  for (const { key } of entries) await gateway.routes.delete(key);
});

function statusOf(path: string): Promise<number> {
  return fetch(gateway.url + path).then((response) => response.status);
}

function becomes(path: string, status: number): Promise<true> {
  return waitFor(async () => (await statusOf(path)) === status || null, {
    what: `${path} to respond with ${status}`,
  });
}

const at = (path: string): StoredServiceConfig => publicService(service.url, { path, methods: ["GET"] });

// GW-29
test("a gateway without routes returns 404 and keeps running", async () => {
  expect(await statusOf("/anything")).toBe(404);
});

// GW-20, GW-21
test("routes appear with a put, change with the next put, and disappear with a delete", async () => {
  await gateway.publish({ one: at("/one") });
  expect(await statusOf("/one")).toBe(200);
  await gateway.publish({ one: at("/other") });
  expect([await statusOf("/one"), await statusOf("/other")]).toEqual([404, 200]);
  await gateway.routes.delete(`${ROUTES_PREFIX}one`);
  await becomes("/other", 404);
});

// GW-5
test("requests in flight finish by the route that they matched", async () => {
  const release = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let held = false;
  service.handler = async () => {
    // Hold only the first call. More calls can arrive before the gateway applies the deletion.
    if (held) return OK;
    held = true;
    reached.resolve();
    await release.promise;
    return OK;
  };
  await gateway.publish({ slow: at("/slow") });
  const response = statusOf("/slow");
  await reached.promise;
  await gateway.routes.delete(`${ROUTES_PREFIX}slow`);
  await becomes("/slow", 404);
  release.resolve();
  expect(await response).toBe(200);
});
