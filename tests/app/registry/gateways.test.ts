import { afterEach, describe, expect, test } from "bun:test";
import { Gateways } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { RouteSummary } from "@ostiary/lib/runtime/stores/route-store";
import { Value } from "@sinclair/typebox/value";
import { hasLoaded, serves } from "../../../apps/registry/gateways/gateway.ts";
import { type LoadingGateway, startLoadingGateway } from "../../support/gateway/loading-gateway.ts";
import { waitFor } from "../../support/index.ts";
import { service, useRegistry } from "./bed.ts";

const registry = useRegistry({ env: { RECONCILE_FULL_INTERVAL_MS: "86400000" } });

const running: LoadingGateway[] = [];
async function start(): Promise<LoadingGateway> {
  const gateway = await startLoadingGateway(registry.routeStore);
  running.push(gateway);
  return gateway;
}
/** Starts a gateway. Returns it with its entry in the route store. */
async function startReporting() {
  const gateway = await start();
  const entry = await registry.routeStore.get(INSTANCES_PREFIX + gateway.id);
  return { gateway, value: entry?.value, entry: JSON.parse(entry?.value ?? "{}") };
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.stop()));
});

const list = async () => (await registry.call("GET", "/gateways")).body.gateways;
const currents = async (...gateways: LoadingGateway[]) => {
  const found: { instance: string; current: boolean }[] = await list();
  return gateways.map(({ id }) => found.find(({ instance }) => instance === id)?.current);
};
const become = (expected: unknown[], ...gateways: LoadingGateway[]) =>
  waitFor(async () => Bun.deepEquals(await currents(...gateways), expected), { what: `${expected}` });

describe("the list of gateways", () => {
  // RG-85
  test("shows each running gateway with what it has loaded, ordered by id", async () => {
    await registry.call("POST", "/apply?wait_ms=10000", { services: { a: service("/a"), b: service("/b") } });
    const gateways = await Promise.all([1, 2, 3].map(start));
    const { body } = await registry.call("GET", "/gateways");
    expect(Value.Check(Gateways, body)).toBe(true);
    expect(body.gateways.map(({ instance }: { instance: string }) => instance)).toEqual(
      gateways.map(({ id }) => id).sort(),
    );
    for (const gateway of body.gateways) {
      expect(gateway).toMatchObject({ services: 2, routes: 2, skipped: [], current: true });
      expect(gateway.loaded_at >= gateway.started_at).toBe(true);
    }
    await Promise.all(running.splice(0).map((gateway) => gateway.stop()));
    expect(await list()).toEqual([]);
  });

  // RG-86
  test("shows gateways as not current if they lack a change or a deletion, or skipped a service", async () => {
    await registry.call("POST", "/apply?wait_ms=10000", { services: { a: service("/a"), b: service("/b") } });
    const [one, two] = [await start(), await start()];
    await become([true, true], one, two);
    two.holdUp();
    await registry.put("a", service("/a/2"));
    await become([true, false], one, two);
    two.goOn();
    await become([true, true], one, two);
    two.holdUp();
    await registry.call("DELETE", "/services/a");
    await become([true, false], one, two);
    two.goOn();
    await become([true, true], one, two);
    await registry.routeStore.put(`${ROUTES_PREFIX}bad`, "{");
    await become([false, false], one, two);
    // The gateways count as not current as soon as the store has the bad entry. Wait until the gateways
    // report the service `bad` as skipped.
    const left = [{ service: "bad", reason: expect.any(String) }];
    await waitFor(async () =>
      (await list()).every(({ skipped }: { skipped: unknown[] }) => skipped.length > 0),
    );
    expect((await list())[0].skipped).toEqual(left);
    await registry.routeStore.delete(`${ROUTES_PREFIX}bad`);
    await become([true, true], one, two);
  });

  // RG-85
  test("leaves out invalid entries, and shows the others", async () => {
    const { gateway, entry, value } = await startReporting();
    const bad = {
      "": value,
      "of-another": value,
      "no-json": "{",
      deep: `{"a":${"[".repeat(5_000)}`,
      number: JSON.stringify({ ...entry, instance: "number", services: "2" }),
      negative: JSON.stringify({ ...entry, instance: "negative", routes: -1 }),
      "a b": JSON.stringify({ ...entry, instance: "a b" }),
      "line\nfeed": JSON.stringify({ ...entry, instance: "line\nfeed" }),
      "no-time": JSON.stringify({
        ...entry,
        instance: "no-time",
        started_at: "yesterday\n2 gateways are down",
      }),
      endless: JSON.stringify({ ...entry, instance: "endless", routes: 1e300 }),
      long: JSON.stringify({ ...entry, instance: "long", zone: "x".repeat(524_288) }),
      full: JSON.stringify({
        ...entry,
        instance: "full",
        skipped: Array(1_001).fill({ service: "x", reason: "y" }),
      }),
    };
    for (const [id, text] of Object.entries(bad)) {
      await registry.routeStore.put(INSTANCES_PREFIX + id, text ?? "");
    }
    const later = {
      ...entry,
      instance: "later",
      zone: "eu",
      skipped: [{ service: "x", reason: "y", more: 1 }],
    };
    await registry.routeStore.put(`${INSTANCES_PREFIX}later`, JSON.stringify(later));
    const found = await list();
    expect(found.map(({ instance }: { instance: string }) => instance).sort()).toEqual(
      [gateway.id, "later"].sort(),
    );
    // Unknown fields of a newer gateway are not returned.
    const shown = found.find(({ instance }: { instance: string }) => instance === "later");
    expect(Object.keys(shown)).not.toContain("zone");
    expect(shown.skipped).toEqual([{ service: "x", reason: "y" }]);
    for (const id of [...Object.keys(bad), "later"]) await registry.routeStore.delete(INSTANCES_PREFIX + id);
  });

  test("limits the length of names and reasons, and replaces control characters in them", async () => {
    const { entry } = await startReporting();
    const skipped = [
      { service: "a\r\nb\u2028c", reason: "\u001b[2Jwiped\nNo gateway is running." },
      { service: "n".repeat(500), reason: "r".repeat(9_000) },
      { service: "half", reason: `${"r".repeat(299)}\u{1f600}` },
    ];
    await registry.routeStore.put(
      `${INSTANCES_PREFIX}rogue`,
      JSON.stringify({ ...entry, instance: "rogue", skipped }),
    );
    const shown = (await list()).find(({ instance }: { instance: string }) => instance === "rogue");
    expect(shown.skipped).toEqual([
      { service: "a\ufffd\ufffdb\ufffdc", reason: "\ufffd[2Jwiped\ufffdNo gateway is running." },
      { service: "n".repeat(128), reason: "r".repeat(300) },
      { service: "half", reason: `${"r".repeat(299)}\ufffd` },
    ]);
    await registry.routeStore.delete(`${INSTANCES_PREFIX}rogue`);
  });

  test("has a hundred gateways on a page, and the next page continues after the last one", async () => {
    const { gateway, entry } = await startReporting();
    const ids = Array.from({ length: 205 }, (_, number) => `0rogue-${String(number).padStart(3, "0")}`);
    for (const id of ids) {
      await registry.routeStore.put(INSTANCES_PREFIX + id, JSON.stringify({ ...entry, instance: id }));
    }
    const pages: string[][] = [];
    for (let path = "/gateways"; path !== ""; ) {
      const { body } = await registry.call("GET", path);
      const page = body.gateways.map(({ instance }: { instance: string }) => instance);
      pages.push(page);
      path = body.has_more ? `/gateways?starting_after=${page.at(-1)}` : "";
    }
    expect(pages.map((page) => page.length)).toEqual([100, 100, 6]);
    expect(pages.flat()).toEqual([...ids, gateway.id].sort());
    for (const id of ids) await registry.routeStore.delete(INSTANCES_PREFIX + id);
  });
});

describe("whether a gateway has loaded the current routes", () => {
  const instance = (store_revision: number, services: number, skipped: string[] = []) => ({
    instance: "a",
    started_at: "2026-01-01T00:00:00.000Z",
    loaded_at: "2026-01-01T00:00:00.000Z",
    store_revision,
    services,
    routes: services,
    skipped: skipped.map((name) => ({ service: name, reason: "?" })),
  });
  const routes: RouteSummary = { revision: 20, newest: 10, count: 3 };

  // RG-86
  test.each([
    [9, 3, false],
    [10, 3, true],
    // One service too many: the gateway still serves a service that was deleted later.
    [10, 4, false],
    [15, 3, true],
    [20, 3, true],
    [20, 4, false],
    // Newer than the summary: the gateway has loaded everything that the summary covers, and more.
    [21, 7, true],
  ])("at revision %d with %d services: %p", (revision, services, expected) => {
    expect(hasLoaded(instance(revision, services), routes)).toBe(expected);
  });

  test("counts left-out services as loaded, but not as served", () => {
    const gateway = instance(12, 2, ["left-out"]);
    expect(hasLoaded(gateway, routes)).toBe(true);
    expect(serves(gateway, routes, new Set(["other"]))).toBe(true);
    expect(serves(gateway, routes, new Set(["other", "left-out"]))).toBe(false);
    const names = Array.from({ length: 1_000 }, (_, index) => `s-${index}`);
    expect(serves(instance(30, 1, names), routes, new Set(["other"]))).toBe(false);
  });
});
