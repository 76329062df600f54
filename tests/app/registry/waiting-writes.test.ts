import { afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { memoryRouteStore, type RouteStore, StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import {
  forwarding,
  type LoadingGateway,
  startLoadingGateway,
} from "../../support/gateway/loading-gateway.ts";
import { services, waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { fields, type Registry, service, startRegistry, useRegistry } from "./bed.ts";

let registry: Registry;
let gateways: LoadingGateway[];

async function join(): Promise<LoadingGateway> {
  const gateway = await startLoadingGateway(registry.routeStore);
  gateways.push(gateway);
  return gateway;
}

async function joinThree() {
  return [await join(), await join(), await join()] as const;
}

const applyAnd = (wait_ms: number | string, services: Record<string, unknown>) =>
  registry.call("POST", `/apply?wait_ms=${wait_ms}`, { services });
const everyone = (count: number) => ({
  gateways: count,
  reached: count,
  projected: true,
  waited_ms: expect.any(Number),
});

describe("a write that waits", () => {
  const shared = useRegistry();
  beforeEach(() => {
    registry = shared;
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    if (registry !== shared) await registry.stop();
  });

  /**
   * Starts another registry, with a clock that only the test advances. `untilServedBy` waits until so many gateways
   * serve all published routes, and until the registry has looked at them since.
   */
  async function startWithClock() {
    const clock = manualClock(new Date());
    const routeStore = forwarding(memoryRouteStore());
    const summarize = spyOn(routeStore, "summarize");
    const polls = () => summarize.mock.calls.length;
    registry = await startRegistry({ routeStore, clock });
    const isCurrent = ({ current }: { current: boolean }) => current;
    return {
      clock,
      async untilServedBy(count: number) {
        await waitFor(async () => {
          const { gateways: found } = (await registry.call("GET", "/gateways")).body;
          return found.filter(isCurrent).length === count;
        });
        // A poll may be in progress, so the next one must be over too.
        const before = polls();
        await waitFor(() => polls() >= before + 3);
      },
    };
  }

  // RG-87, RG-88
  test("returns once every gateway serves it, for apply, PUT, restore and DELETE", async () => {
    const three = await joinThree();
    const applied = await applyAnd(10_000, { w: service("/w/1"), x: service("/x") });
    expect(applied.status).toBe(200);
    expect(applied.body.propagation).toEqual(everyone(3));
    expect(three.every((gateway) => gateway.serves("/w/1") && gateway.serves("/x"))).toBe(true);

    const put = await registry.call("PUT", "/services/w?wait_ms=10000", service("/w/2"));
    expect(put.body).toMatchObject({ name: "w", revision: 2, propagation: everyone(3) });
    expect(put.headers.get("etag")).toBe('"2"');
    expect(three.every((gateway) => gateway.serves("/w/2") && !gateway.serves("/w/1"))).toBe(true);

    const restored = await registry.call("POST", "/services/w/revisions/1/restore?wait_ms=10000");
    expect(restored.body).toMatchObject({ name: "w", revision: 3, propagation: everyone(3) });
    expect(three.every((gateway) => gateway.serves("/w/1"))).toBe(true);

    const deleted = await registry.call("DELETE", "/services/w?wait_ms=10000");
    expect([deleted.status, deleted.body]).toEqual([200, { propagation: everyone(3) }]);
    expect(three.some((gateway) => gateway.serves("/w/1"))).toBe(false);
    expect(three.every((gateway) => gateway.serves("/x"))).toBe(true);
  });

  // RG-88
  test("returns after wait_ms with the number of gateways that have it", async () => {
    const { untilServedBy, clock } = await startWithClock();
    const [held] = await joinThree();
    await applyAnd(10_000, { before: service("/before") });
    held.holdUp();
    const response = applyAnd(300, { late: service("/late") });
    await untilServedBy(2);
    clock.advance(300);
    const { status, body } = await response;
    expect(status).toBe(200);
    expect(body.propagation).toEqual({ gateways: 3, reached: 2, projected: true, waited_ms: 300 });
    held.goOn();
    expect((await applyAnd(10_000, { late: service("/late") })).body.propagation).toEqual(everyone(3));
  });

  // RG-89
  test("counts a gateway that joins during the wait, and stops counting one that leaves", async () => {
    const [held] = await joinThree();
    held.holdUp();
    const response = applyAnd(30_000, { moving: service("/moving") });
    await waitFor(() => gateways[1]?.serves("/moving"));
    const joined = await join();
    expect(joined.serves("/moving")).toBe(true);
    await registry.routeStore.delete(INSTANCES_PREFIX + held.id);
    expect((await response).body.propagation).toEqual(everyone(3));
  });

  // RG-89
  test("does not count a gateway as reached if the gateway skipped one of its services", async () => {
    const { untilServedBy, clock } = await startWithClock();
    const gateway = await join();
    await applyAnd(10_000, { good: service("/good") });
    // Add the entry of a gateway of another version, which cannot load the service "good".
    const entry = await registry.routeStore.get(INSTANCES_PREFIX + gateway.id);
    const reported = JSON.parse(entry?.value ?? "{}");
    const skipped = [{ service: "good", reason: "?" }];
    const other = { ...reported, instance: "other", store_revision: 1e9, skipped };
    await registry.routeStore.put(`${INSTANCES_PREFIX}other`, JSON.stringify(other));
    const response = applyAnd(200, { good: service("/good/2") });
    await untilServedBy(1);
    clock.advance(200);
    expect((await response).body.propagation).toMatchObject({ gateways: 2, reached: 1, projected: true });
    expect((await applyAnd(10_000, { fine: service("/fine") })).body.propagation).toEqual(everyone(2));
  });

  test("returns for all 20 waiting callers at once", async () => {
    const [held] = await joinThree();
    held.holdUp();
    const responses = Array.from({ length: 20 }, (_, index) =>
      applyAnd(30_000, { [`many-${index}`]: service(`/many/${index}`) }),
    );
    await waitFor(() => gateways[1]?.serves("/many/19"));
    held.goOn();
    for (const { status, body } of await Promise.all(responses)) {
      expect([status, body.propagation]).toEqual([200, everyone(3)]);
    }
  });

  test.skipIf(!services().postgres.real)("returns if another replica projected it", async () => {
    await join();
    const unable = forwarding(registry.routeStore);
    unable.writeFenced = async () => {
      throw new StoreUnavailable("route_store", new Error("away"));
    };
    const { databaseUrl } = registry;
    await using replica = await startRegistry({ databaseUrl, routeStore: unable });
    const response = await replica.call("PUT", "/services/shared?wait_ms=20000", service("/shared"));
    expect(response.body.propagation).toEqual(everyone(1));
  });

  // RG-90
  test("stops waiting if its caller disconnects, but is still written", async () => {
    (await join()).holdUp();
    const leaving = new AbortController();
    const request = fetch(`${registry.url}/services/left?wait_ms=30000`, {
      method: "PUT",
      headers: { Authorization: "Bearer test-admin-token" },
      body: JSON.stringify(service("/left")),
      signal: leaving.signal,
    });
    await waitFor(async () => (await registry.call("GET", "/services/left")).status === 200);
    leaving.abort();
    expect(await request.catch((error) => error.name)).toBe("AbortError");
    const ended = 'http_requests_total{route="/services/{name}",method="PUT"';
    await waitFor(
      async () => (await (await fetch(`${registry.internalUrl}/metrics`)).text()).includes(ended),
      {
        what: "the request ending long before wait_ms",
      },
    );
  });

  // RG-90
  test("returns when the registry stops", async () => {
    // The clock of the registry stands still, so the wait does not end by itself.
    const { untilServedBy } = await startWithClock();
    (await join()).holdUp();
    const response = applyAnd(30_000, { stopped: service("/stopped") });
    await untilServedBy(0);
    await registry.stop();
    expect((await response).body.propagation).toMatchObject({ gateways: 1, reached: 0 });
    registry = shared;
  });
});

describe("a wrong query", () => {
  const registry = useRegistry();
  beforeAll(async () => {
    await registry.put("kept", service("/kept"));
  });

  const values = ["", "-1", "30001", "1.5", "007"];
  // RG-87
  test.each(values)("wait_ms=%j is 422, and nothing is written", async (wait_ms) => {
    const query = new URLSearchParams({ wait_ms });
    for (const [method, path, body] of [
      ["POST", "/apply", { services: { kept: service("/other") } }],
      ["PUT", "/services/kept", service("/other")],
      ["DELETE", "/services/kept", undefined],
      ["POST", "/services/kept/revisions/1/restore", undefined],
    ] as const) {
      const response = await registry.call(method, `${path}?${query}`, body);
      expect([method, response.status]).toEqual([method, 422]);
      expect(fields(response)).toEqual([
        { path: "wait_ms", message: "wait_ms must be a whole number from 0 to 30000." },
      ]);
    }
    expect((await registry.call("GET", "/services/kept")).body.revision).toBe(1);
  });

  // RG-72
  test.each(["wait_ms=1&wait_ms=2", "wait=1", "wait_ms=1&dry_run=true", "dry_run=true&wait_ms=0"])(
    "%s is 422",
    async (query) => {
      const response = await registry.call("POST", `/apply?${query}`, { services: { no: service("/no") } });
      expect(response.status).toBe(422);
      expect((await registry.call("GET", "/services/no")).status).toBe(404);
    },
  );
});

describe("while the route store is down", () => {
  /** Returns a route store whose operations all fail. Its lease does nothing. */
  function away(): RouteStore {
    const gone = async () => {
      throw new StoreUnavailable("route_store", new Error("away"));
    };
    const all = { get: gone, list: gone, summarize: gone, put: gone, delete: gone, writeFenced: gone };
    const lease = () => ({ put() {}, release: async () => {} });
    return { ...all, watch: gone, ping: gone, lease, close: async () => {} };
  }

  // RG-51
  test("a write returns after wait_ms, and is recorded", async () => {
    await using unable = await startRegistry({ routeStore: away() });
    const response = await unable.call("POST", "/apply?wait_ms=200", { services: { a: service("/a") } });
    expect([response.status, response.body.propagation]).toEqual([
      200,
      { gateways: 0, reached: 0, projected: false, waited_ms: expect.any(Number) },
    ]);
    expect(response.body.propagation.waited_ms).toBeGreaterThanOrEqual(200);
    const deleted = await unable.call("DELETE", "/services/a?wait_ms=0");
    expect([deleted.status, deleted.body.propagation.projected]).toEqual([200, false]);
    expect((await unable.call("GET", "/gateways")).status).toBe(503);
  });
});
