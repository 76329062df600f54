/** Tests of how the platform publishes the catalogs of `seeds/` at each start. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { publishCatalogs } from "@ostiary/platform/catalogs";
import { ADMIN_TOKEN, type Registry, startRegistry } from "../registry/harness.ts";

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const publish = (service: string, url: string, adminToken = ADMIN_TOKEN) =>
  publishCatalogs({ registryUrl: registry.url, adminToken }, [{ service, url }]);
const get = async (service: string) => (await registry.call("GET", `/services/${service}`)).body;

// OP-58
test("a catalog is published with the URL at which its service listens", async () => {
  await publish("identity", "http://127.0.0.1:3999");
  expect(await get("identity")).toMatchObject({ revision: 1, url: "http://127.0.0.1:3999" });
});

// OP-58
test("a published service keeps its routes, and gets a new revision only when its URL changes", async () => {
  await publish("audit", "http://127.0.0.1:3001");
  const { name: _name, revision: _revision, ...config } = await get("audit");
  const changed = { ...config, rate_limits: { mine: { requests: 1, window_seconds: 1 } } };
  await registry.put("audit", changed);
  for (let start = 0; start < 2; start++) await publish("audit", "http://127.0.0.1:3002");
  expect(await get("audit")).toEqual({
    name: "audit",
    revision: 3,
    ...changed,
    url: "http://127.0.0.1:3002",
  });
});

// OP-58
test("a deleted service is not published again", async () => {
  await publish("demo", "http://127.0.0.1:4000");
  await registry.call("DELETE", "/services/demo");
  await publish("demo", "http://127.0.0.1:4001");
  expect((await registry.call("GET", "/services/demo")).status).toBe(404);
});
