import { describe, expect, test } from "bun:test";
import { ownedRoutes, routeShape } from "@ostiary/lib/domain/routes";
import { current, projected, service } from "../../../app/registry/bed.ts";
import { services, waitFor } from "../../../support/index.ts";
import { useRegistryProcesses } from "./processes.ts";

/** Whether several registry processes can run: they must share a PostgreSQL server and etcd. */
const isReal = services().postgres.real && services().etcd.real;

describe.skipIf(!isReal)("several registries on one database", () => {
  const processes = useRegistryProcesses(3);
  const registry = (n: number) => processes.registry(n);

  /**
   * Expects that each route has one owner, that a shared policy is the same in all services, and that
   * revision numbers have no gap. Waits until the route store equals the database.
   */
  async function expectInvariants(): Promise<void> {
    const configs = await current(registry(0));
    const owners = new Map<string, string>();
    const policies = new Map<string, string>();
    for (const [name, config] of Object.entries(configs)) {
      for (const { method, path } of ownedRoutes(name, config)) {
        const key = `${method} ${routeShape(path)}`;
        expect([key, owners.get(key) ?? name]).toEqual([key, name]);
        owners.set(key, name);
      }
      for (const [policy, { shared, ...numbers }] of Object.entries(config.rate_limits ?? {})) {
        const meaning = JSON.stringify([shared === true, numbers]);
        if (shared) expect([policy, policies.get(policy) ?? meaning]).toEqual([policy, meaning]);
        policies.set(policy, meaning);
      }
      const { body } = await registry(1).call("GET", `/services/${name}/revisions`);
      const numbers = body.revisions.map((each: { revision: number }) => each.revision);
      expect(numbers).toEqual(numbers.map((_: number, index: number) => numbers.length - index));
    }
    await waitFor(async () => Bun.deepEquals(await projected(processes.routeStore), configs), {
      what: "the route store to match the database",
    });
  }

  // RG-50
  test("keep every rule while 50 concurrent applies compete for the same routes and shared policies", async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const requests = 1 + (n % 3);
        const rate_limits = {
          [`quota-${n % 4}`]: { requests, window_seconds: 60, shared: true },
          [`mixed-${n % 4}`]: { requests, window_seconds: 60, shared: n % 2 === 0 },
        };
        // 50 applies share ten names, so some replace the same service and others compete for its routes.
        const name = `fighter-${n % 10}`;
        const paths = [`/prize-${n % 7}/{id${n}}`, `/prize-${n % 5}/{id${n}}/parts`, `/own-${n % 10}`];
        return registry(n).apply({ [name]: { ...service(...paths), rate_limits } });
      }),
    );
    const statuses = new Set(responses.map(({ status }) => status));
    expect([...statuses].every((status) => [200, 409, 422].includes(status))).toBe(true);
    expect(statuses).toContain(200);
    expect(statuses).toContain(409);
    expect(statuses).toContain(422);
    await expectInvariants();
  });

  // RG-48
  test("number 50 concurrent writes of one service from 1 to 50", async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => registry(n).put("counted", service(`/counted/${n}`))),
    );
    const numbers = responses.map(({ body }) => body.revision).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    await expectInvariants();
  });

  test("keep every rule while services are put, deleted, restored and applied all at once", async () => {
    await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const name = `whirl-${n % 6}`;
        const path = `/whirl-${n % 4}/{x}`;
        if (n % 5 === 0) return registry(n).call("DELETE", `/services/${name}`);
        if (n % 5 === 1) return registry(n).call("POST", `/services/${name}/revisions/1/restore`);
        if (n % 5 === 2)
          return registry(n).apply({ [name]: service(path), [`pair-${name}`]: service(`/p${path}`) });
        return registry(n).put(name, service(path));
      }),
    );
    await expectInvariants();
  });
});
