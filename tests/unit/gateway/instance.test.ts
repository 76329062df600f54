import { describe, expect, test } from "bun:test";
import { GatewayInstance } from "@ostiary/lib/contracts/gateway-instance";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { type LeaseOptions, memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Value } from "@sinclair/typebox/value";
import { Instance } from "../../../apps/gateway/instance.ts";
import { PublishedRoutes } from "../../../apps/gateway/published-routes.ts";
import { publicService } from "../../support/gateway/gateway.ts";
import { waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const START = "2026-01-01T00:00:00.000Z";
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const valid = (path: string) =>
  JSON.stringify(publicService("http://a:1", { path, methods: ["GET", "POST"] }));

function bed() {
  const store = memoryRouteStore();
  const clock = manualClock(START);
  const instance = new Instance(store, silent, clock);
  const routes = new PublishedRoutes(
    store,
    silent,
    { ...clock, after: (_, work) => clockless(work) },
    (loaded) => instance.report(loaded),
  );
  const entries = async () => (await store.list(INSTANCES_PREFIX)).entries;
  const entry = async () => JSON.parse((await entries())[0]?.value ?? "null");
  return { store, clock, instance, routes, entries, entry };
}

function clockless(work: () => void): () => void {
  const timer = setTimeout(work, 0);
  return () => clearTimeout(timer);
}

describe("the instance key of a gateway", () => {
  // GW-30
  test("shows after each load what is loaded, and up to which revision", async () => {
    const { store, clock, instance, routes, entries, entry } = bed();
    await store.put(`${ROUTES_PREFIX}a`, valid("/a"));
    expect(await entries()).toEqual([]);
    await routes.start();
    expect((await entries()).map(({ key }) => key)).toEqual([INSTANCES_PREFIX + instance.id]);
    expect(Value.Check(GatewayInstance, await entry())).toBe(true);
    expect(await entry()).toEqual({
      instance: instance.id,
      started_at: START,
      loaded_at: START,
      store_revision: 1,
      services: 1,
      routes: 2,
      skipped: [],
    });
    clock.advance(1_000);
    await store.put(`${ROUTES_PREFIX}b`, valid("/b"));
    const { revision } = (await store.get(`${ROUTES_PREFIX}b`)) ?? {};
    await waitFor(async () => (await entry()).store_revision === revision);
    expect(await entry()).toMatchObject({
      started_at: START,
      loaded_at: "2026-01-01T00:00:01.000Z",
      services: 2,
      routes: 4,
    });
    await store.delete(`${ROUTES_PREFIX}a`);
    await waitFor(async () => (await entry()).services === 1);
    await routes.stop();
    await instance.release();
    expect(await entries()).toEqual([]);
  });

  // GW-30
  test("names the services that are skipped and why, until they are valid or deleted", async () => {
    const { store, routes, instance, entry } = bed();
    await store.put(`${ROUTES_PREFIX}broken`, "{");
    await store.put(`${ROUTES_PREFIX}wrong`, JSON.stringify({ url: "http://a:1" }));
    await store.put(`${ROUTES_PREFIX}good`, valid("/good"));
    await store.put(`${ROUTES_PREFIX}no/name`, valid("/x"));
    await routes.start();
    const { services, skipped } = await entry();
    expect(services).toBe(1);
    expect(skipped.map(({ service }: { service: string }) => service)).toEqual([
      "broken",
      "no/name",
      "wrong",
    ]);
    for (const { reason } of skipped) expect(reason).toMatch(/\w+/);
    await store.put(`${ROUTES_PREFIX}good`, "[]");
    await waitFor(async () => (await entry()).skipped.length === 4);
    const names = (await entry()).skipped.map(({ service }: { service: string }) => service);
    expect([names, (await entry()).services]).toEqual([["broken", "good", "no/name", "wrong"], 0]);
    await store.put(`${ROUTES_PREFIX}broken`, valid("/mended"));
    await store.delete(`${ROUTES_PREFIX}no/name`);
    await store.delete(`${ROUTES_PREFIX}wrong`);
    await waitFor(async () => (await entry()).skipped.length === 1);
    expect(await entry()).toMatchObject({ services: 1, skipped: [{ service: "good" }] });
    await routes.stop();
    await instance.release();
  });

  // GW-30
  test("stays small when a thousand services are skipped", async () => {
    const { store, routes, instance, entry } = bed();
    for (let count = 0; count < 1_100; count++) await store.put(`${ROUTES_PREFIX}s-${count}`, "{");
    await store.put(`${ROUTES_PREFIX}long`, JSON.stringify({ [`${"x".repeat(90_000)}`]: 1 }));
    await routes.start();
    const value = JSON.stringify(await entry());
    expect(JSON.parse(value).skipped).toHaveLength(1_000);
    expect(value.length).toBeLessThan(500_000);
    await routes.stop();
    await instance.release();
  });

  // GW-31
  test("is logged once when the store refuses it, and again when the store accepts it", () => {
    const lines: string[] = [];
    const log = {
      info: (_: object, message: string) => void lines.push(message),
      warn: (_: object, message: string) => void lines.push(message),
    };
    let options: LeaseOptions | undefined;
    const store = {
      lease(_: string, given: LeaseOptions) {
        options = given;
        return { put() {}, release: async () => {} };
      },
    };
    new Instance(store, log, manualClock());
    options?.onFailure(new Error("away"));
    options?.onRecovery();
    expect(lines).toEqual([
      "the route store does not accept this gateway's status: the gateway keeps serving",
      "the route store accepts this gateway's status again",
    ]);
  });
});
