import { expect, test } from "bun:test";
import { manualClock } from "@ostiary/lib/async/manual-clock";
import { memoryRouteStore, type RouteStore, StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { PublishedRoutes } from "../../../apps/gateway/route-table.ts";
import { publicService } from "../../support/gateway.ts";
import { waitFor } from "../../support/index.ts";

/** A store whose lists fail while `broken`, and are counted. */
function breakable() {
  const memory = memoryRouteStore();
  const state = { broken: false, lists: 0 };
  const store: RouteStore = {
    get: (key) => memory.get(key),
    put: (key, value) => memory.put(key, value),
    delete: (key) => memory.delete(key),
    writeFenced: (write) => memory.writeFenced(write),
    watch: (prefix, onChange) => memory.watch(prefix, onChange),
    ping: (timeout_ms) => memory.ping(timeout_ms),
    close: () => memory.close(),
    async list(prefix) {
      state.lists += 1;
      if (state.broken) throw new StoreUnavailable("route_store", new Error("broken"));
      return memory.list(prefix);
    },
  };
  return { store, state };
}

function recordingLog() {
  const lines: string[] = [];
  const record = (_: object, message: string) => void lines.push(message);
  const log: Logger = { debug: record, info: record, warn: record, error: record };
  return { log, lines };
}

const put = (store: RouteStore, path: string) =>
  store.put("edge/gateway/routes/a", JSON.stringify(publicService("http://a:1", { path, methods: ["GET"] })));

test("a load that fails keeps the current routes, warns, and is tried again without another change", async () => {
  const { store, state } = breakable();
  const { log, lines } = recordingLog();
  const timers = manualClock();
  const routes = new PublishedRoutes(store, log, timers);
  await put(store, "/before");
  await routes.start();
  state.broken = true;
  await put(store, "/after");
  await waitFor(() => lines.includes("routes not reloaded: the current ones stay"));
  expect(routes.table.match("GET", "/before")).not.toBeNull();
  state.broken = false;
  await waitFor(() => timers.waiting().length === 1);
  timers.advance(1_000);
  await waitFor(() => routes.table.match("GET", "/after") !== null);
  expect(routes.table.match("GET", "/before")).toBeNull();
  await routes.stop();
});

test("many changes at once cost few loads, and the last one is served", async () => {
  const { store, state } = breakable();
  const { log } = recordingLog();
  const routes = new PublishedRoutes(store, log, manualClock());
  await routes.start();
  await Promise.all(Array.from({ length: 500 }, (_, index) => put(store, `/change/${index}`)));
  await waitFor(() => routes.table.match("GET", "/change/499") !== null);
  expect(state.lists).toBeLessThan(50);
  await routes.stop();
});

test("a store that can not be reached refuses the start, in words for an operator", async () => {
  const { store, state } = breakable();
  state.broken = true;
  const routes = new PublishedRoutes(store, recordingLog().log, manualClock());
  await expect(routes.start()).rejects.toThrow("The route store (ROUTE_STORE_URL) can not be reached");
});

test("a stopped gateway loads no more", async () => {
  const { store, state } = breakable();
  const routes = new PublishedRoutes(store, recordingLog().log, manualClock());
  await routes.start();
  await routes.stop();
  const { lists } = state;
  await put(store, "/late");
  await Bun.sleep(20);
  expect(state.lists).toBe(lists);
});

test("a value that nests deeper than any costs no other service its routes", async () => {
  const { store } = breakable();
  const { log, lines } = recordingLog();
  const routes = new PublishedRoutes(store, log, manualClock());
  await put(store, "/good");
  for (const [name, value] of Object.entries({
    list: "[".repeat(400_000) + "]".repeat(400_000),
    route: `{"url":"http://a:1","user":{"routes":[${"[".repeat(400_000)}${"]".repeat(400_000)}]}}`,
    open: '{"user":'.repeat(100_000),
  })) {
    await store.put(`edge/gateway/routes/${name}`, value);
  }
  await routes.start();
  expect(routes.table.match("GET", "/good")).not.toBeNull();
  const left = "service left out: its value is not JSON, or is nested too deeply";
  expect(lines.filter((line) => line === left)).toHaveLength(3);
  await routes.stop();
});
