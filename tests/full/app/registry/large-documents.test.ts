import { describe, expect, test } from "bun:test";
import { fields, projected, service } from "../../../app/registry/bed.ts";
import { standInFor } from "../../../support/during-tests.ts";
import { services, waitFor } from "../../../support/index.ts";
import { useRegistryProcesses } from "./processes.ts";

const ROUTES = 10_000;

describe.skipIf(!services().etcd.real)("a registry given large documents", () => {
  const processes = useRegistryProcesses(1);
  const registry = standInFor(() => processes.registry());

  test("publishes 10 000 routes of one service, and publishes the same again", async () => {
    const config = service(...Array.from({ length: ROUTES }, (_, n) => `/one/${n}/{id}`));
    for (const revision of [1, 2]) {
      const response = await registry.apply({ large: config });
      expect(response.body.results).toEqual([{ service: "large", status: "upserted", revision }]);
    }
    await waitFor(async () => Bun.deepEquals((await projected(processes.routeStore)).large, config));
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
    const response = await registry.put("thief", { url: owned.url, member: owned.user });
    expect(response.status).toBe(409);
    expect(response.body.error.details.conflicts).toHaveLength(100);
    expect(response.body.error.message).toContain("and 4900 more");
  });
});
