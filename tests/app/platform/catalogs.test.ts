/** Tests of how the platform publishes the catalogs of `seeds/` at each start. */
import { describe, expect, test } from "bun:test";
import { publishCatalogs } from "../../../apps/platform/catalogs.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { ADMIN_TOKEN, useRegistry } from "../registry/bed.ts";

const registry = useRegistry();

const publish = (service: string, url: string, adminToken = ADMIN_TOKEN) =>
  publishCatalogs({ registryUrl: registry.url, adminToken, program: "ostiary" }, [{ service, url }]);
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

test("a failed publication advises the command line by the name that started the platform", async () => {
  using away = Bun.serve({
    port: 0,
    fetch({ method }) {
      if (method === "GET") return Response.json({ revisions: [] });
      const error = { type: "api_error", code: "SERVICE_UNAVAILABLE", message: "Away.", request_id: "1" };
      return Response.json({ error: { ...error, details: null } }, { status: 503 });
    },
  });
  const access = { registryUrl: away.url.origin, adminToken: ADMIN_TOKEN, program: "ostiary" };
  await expect(publishCatalogs(access, [{ service: "demo", url: "http://a:1" }])).rejects.toThrow(
    "check with ostiary services.",
  );
});

describe("the program that compose runs", () => {
  const run = (parameters: string[], env: Record<string, string> = {}) => {
    const { PATH = "" } = process.env;
    const variables = { PATH, REGISTRY_URL: registry.url, ADMIN_TOKEN, ...env };
    return runToEnd(["bun", "apps/platform/publish-catalogs/main.ts", ...parameters], { env: variables });
  };

  test("publishes each catalog once, and leaves a service with a history as it is", async () => {
    const catalogs = ["portal=http://portal:3004", "registry=http://registry:5002"];
    expect((await run(catalogs)).exitCode).toBe(0);
    expect(await get("portal")).toMatchObject({ revision: 1, url: "http://portal:3004" });
    const { name: _name, revision: _revision, ...config } = await get("registry");
    const changed = { ...config, url: "http://elsewhere:5002" };
    await registry.put("registry", changed);
    await registry.call("DELETE", "/services/portal");
    const again = await run(catalogs);
    expect(again).toMatchObject({
      exitCode: 0,
      stderr: "portal is published already\nregistry is published already\n",
    });
    expect(await get("registry")).toMatchObject({ revision: 2, ...changed });
    expect((await registry.call("GET", "/services/portal")).status).toBe(404);
  });

  test.each([
    [["portal"], {}, 2, "Give NAME=URL instead of portal."],
    [["../seeds/portal=http://portal:3004"], {}, 2, "Give NAME=URL instead of ../seeds/portal="],
    [["gadgets=http://gadgets:80"], {}, 2, "seeds/ has no catalog gadgets.\n"],
    [["audit=http://audit:3002"], { ADMIN_TOKEN: "" }, 2, "Set ADMIN_TOKEN"],
  ])("refuses %j with %j", async (parameters, env, exitCode, message) => {
    const refused = await run(parameters, env);
    expect(refused.exitCode).toBe(exitCode);
    expect(refused.stderr).toContain(message);
  });
});
