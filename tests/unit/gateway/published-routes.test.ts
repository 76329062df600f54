import { describe, expect, test } from "bun:test";
import { type Clock, systemClock } from "@ostiary/lib/async";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { RouteTable } from "@ostiary/lib/domain/routes";
import {
  memoryRouteStore,
  type RouteChange,
  type RouteListener,
  type RouteStore,
  StoreUnavailable,
} from "@ostiary/lib/runtime/stores/route-store";
import fc from "fast-check";
import { PublishedRoutes } from "../../../apps/gateway/published-routes.ts";
import { publicService } from "../../support/gateway/gateway.ts";
import { buildRouteTable, validateStored } from "../../support/gateway/route-tables.ts";
import { waitFor } from "../../support/index.ts";
import { runs } from "../../support/runs.ts";
import { recordedLog } from "../../support/telemetry/recorded-log.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

/**
 * Returns a store that counts its listings. While `broken` is set, listings fail. While `deaf` is set, the
 * watch reports no change.
 */
function breakable() {
  const memory = memoryRouteStore();
  const state = { broken: false, deaf: false, lists: 0, listing: async () => {} };
  const listeners: RouteListener[] = [];
  const store: RouteStore = {
    get: (key) => memory.get(key),
    put: (key, value) => memory.put(key, value),
    summarize: (prefix) => memory.summarize(prefix),
    lease: (key, options) => memory.lease(key, options),
    delete: (key) => memory.delete(key),
    writeFenced: (write) => memory.writeFenced(write),
    ping: (timeoutMs) => memory.ping(timeoutMs),
    close: () => memory.close(),
    watch(prefix, listener) {
      listeners.push(listener);
      return memory.watch(prefix, {
        ...listener,
        changed: (changes) => {
          if (!state.deaf) listener.changed(changes);
        },
      });
    },
    async list(prefix) {
      state.lists += 1;
      if (state.broken) throw new StoreUnavailable("route_store", new Error("broken"));
      const listing = await memory.list(prefix);
      await state.listing();
      return listing;
    },
  };
  return {
    store,
    state,
    report(...changes: RouteChange[]) {
      for (const listener of listeners) listener.changed(changes);
    },
    /** Restores the watch after an interruption. */
    interrupt: () => {
      state.deaf = false;
      for (const listener of listeners) listener.interrupted();
    },
  };
}

/**
 * Returns a clock that advances by 10 ms at each reading, so that each slice of a load has one step. Only loads
 * read it.
 */
function steppingClock() {
  let elapsedMs = 0;
  return {
    ...systemClock,
    readings: () => elapsedMs / 10,
    elapsedMs: () => {
      elapsedMs += 10;
      return elapsedMs;
    },
  };
}

const keyOf = (name: string) => `${ROUTES_PREFIX}${name}`;
const serviceAt = (...paths: string[]) =>
  JSON.stringify(publicService("http://a:1", ...paths.map((path) => ({ path, methods: ["GET" as const] }))));
const put = (store: RouteStore, ...paths: string[]) => store.put(keyOf("a"), serviceAt(...paths));
const pathsOf = (table: RouteTable) => table.routes.map(({ path }) => path);

async function started(clock: Clock = systemClock) {
  const bed = breakable();
  const { log, lines } = recordedLog();
  const messages = () => lines.map(({ message }) => message);
  const loads = () => messages().filter((message) => message === "routes loaded").length;
  const routes = new PublishedRoutes(bed.store, log, clock);
  return { ...bed, messages, loads, routes };
}

// GW-25
test("a failed read of the store keeps the current routes, logs a warning and is retried", async () => {
  const timers = manualClock();
  const { store, state, interrupt, messages, routes } = await started(timers);
  await put(store, "/before");
  await routes.start();
  await waitFor(() => timers.waiting().length === 1);
  timers.advance(10);
  state.broken = true;
  state.deaf = true;
  await put(store, "/after");
  interrupt();
  await waitFor(() =>
    messages().includes("the gateway could not reload its routes and keeps serving the current routes"),
  );
  expect(routes.table.match("GET", "/before")).not.toBeNull();
  state.broken = false;
  await waitFor(() => timers.waiting().length === 1);
  timers.advance(1_000);
  await waitFor(() => routes.table.match("GET", "/after") !== null);
  expect(routes.table.match("GET", "/before")).toBeNull();
  await routes.stop();
});

// GW-20
test("a gateway does not start if it cannot reach the store, and names the variable", async () => {
  const { state, routes } = await started();
  state.broken = true;
  await expect(routes.start()).rejects.toThrow("The route store (ROUTE_STORE_URL) cannot be reached");
});

// GW-22
test("a value that is nested too deeply does not affect the routes of other services", async () => {
  const { store, messages, routes } = await started();
  await put(store, "/good");
  for (const [name, value] of Object.entries({
    list: "[".repeat(400_000) + "]".repeat(400_000),
    route: `{"url":"http://a:1","user":{"routes":[${"[".repeat(400_000)}${"]".repeat(400_000)}]}}`,
    open: '{"user":'.repeat(100_000),
  })) {
    await store.put(keyOf(name), value);
  }
  await routes.start();
  expect(routes.table.match("GET", "/good")).not.toBeNull();
  const left = "the gateway skipped a service: its value is not JSON, or is nested too deeply";
  expect(messages().filter((line) => line === left)).toHaveLength(3);
  await routes.stop();
});

// GW-23
test("a service whose new value is invalid loses its routes, with one warning, until it is fixed", async () => {
  const { store, interrupt, messages, loads, routes } = await started();
  await put(store, "/good");
  await routes.start();
  await store.put(keyOf("a"), "{}");
  await waitFor(() => pathsOf(routes.table).length === 0);
  const before = loads();
  interrupt();
  await waitFor(() => loads() > before);
  const left = "the gateway skipped a service: its value is not valid";
  expect(messages().filter((line) => line === left)).toHaveLength(1);
  await put(store, "/good");
  await waitFor(() => pathsOf(routes.table).length === 1);
  await routes.stop();
});

// GW-21, GW-26
describe("while a load runs in slices,", () => {
  const many = (name: string) => Array.from({ length: 100 }, (_, index) => `/${name}/${index}`);

  /** Records every table that is served from now on. */
  function served(routes: PublishedRoutes) {
    const tables = new Set<RouteTable>([routes.table]);
    const looking = setInterval(() => tables.add(routes.table), 0);
    return { tables, end: () => clearInterval(looking) };
  }

  test("further edits and deletions are applied after it, and no table is a mixture", async () => {
    const clock = steppingClock();
    const { store, state, loads, routes } = await started(clock);
    const loadBegins = async () => {
      const before = clock.readings();
      await waitFor(() => clock.readings() > before, { pollMs: 0 });
    };
    await put(store, ...many("old"));
    await routes.start();
    const seen = served(routes);
    await put(store, ...many("new"));
    await loadBegins();
    await store.put(keyOf("b"), serviceAt("/b"));
    await put(store, ...many("newer"));
    await put(store, ...many("newest"));
    expect(loads()).toBe(1);
    await waitFor(() => loads() === 2, { pollMs: 0 });
    expect(pathsOf(routes.table)).toEqual(many("new").toSorted());
    await loadBegins();
    await store.delete(keyOf("b"));
    await store.put(keyOf("c"), serviceAt("/c"));
    await waitFor(() => routes.table.match("GET", "/c") !== null);
    seen.end();
    expect(pathsOf(routes.table)).toEqual([...many("newest").toSorted(), "/c"]);
    for (const table of seen.tables) {
      const names = new Set(pathsOf(table).map((path) => path.split("/")[1]));
      expect(["old", "new", "newer", "newest"].filter((name) => names.has(name))).toHaveLength(1);
      expect(table.counts.routes).toBeWithin(100, 103);
    }
    expect(state.lists).toBe(1);
    await routes.stop();
  });
});

describe("a revision", () => {
  // GW-26
  test("that arrives after a newer one is ignored, before and after the newer one is loaded", async () => {
    const { state, report, routes, loads } = await started();
    await routes.start();
    state.deaf = true;
    const change = (path: string, revision: number) => ({
      key: keyOf("a"),
      value: serviceAt(path),
      revision,
    });
    report(change("/newer", 12), change("/older", 11));
    await waitFor(() => loads() === 2);
    expect(pathsOf(routes.table)).toEqual(["/newer"]);
    report(change("/older", 11), { ...change("/older", 10), value: null });
    report({ ...change("/b", 13), key: keyOf("b") });
    await waitFor(() => loads() === 3);
    expect(pathsOf(routes.table)).toEqual(["/newer", "/b"]);
    await routes.stop();
  });
});

// GW-26
describe("any sequence of edits, interruptions and late events", () => {
  const name = fc.constantFrom("a", "b", "c");
  const valid = fc.uniqueArray(fc.constantFrom("/x", "/y", "/{z}", "/x/{z}"));
  const value = fc.oneof(
    { weight: 5, arbitrary: valid.map((paths) => serviceAt(...paths)) },
    fc.constantFrom("{}", "not JSON"),
  );
  type Bed = Awaited<ReturnType<typeof started>> & { readonly history: RouteChange[] };
  const acts: Record<string, (bed: Bed, name: string, value: string) => unknown> = {
    put: ({ store }, name, value) => store.put(keyOf(name), value),
    delete: ({ store }, name) => store.delete(keyOf(name)),
    wait: () => Bun.sleep(0),
    deafen: ({ state }) => Object.assign(state, { deaf: true }),
    interrupt: ({ interrupt }) => interrupt(),
    repeat: ({ report, history }) => report(...history),
  };
  const act = fc.tuple(fc.constantFrom("put", "put", "put", ...Object.keys(acts)), name, value);

  /** Returns the content of a table that is built from everything in the store. */
  async function expected(store: RouteStore) {
    const { entries } = await store.list(ROUTES_PREFIX);
    const services = entries.flatMap(({ key, value }) => {
      const service = key.slice(ROUTES_PREFIX.length);
      const result = value.startsWith("{") ? validateStored(service, JSON.parse(value)) : null;
      return result?.ok ? [[service, result.service] as const] : [];
    });
    return contentOf(buildRouteTable(services));
  }
  const contentOf = ({ routes, warnings, counts }: RouteTable) => ({ routes, warnings, counts });

  test("ends with the table of the store's content", async () => {
    const clock: Clock = { ...steppingClock(), after: (_, work) => systemClock.after(0, work) };
    const scenario = async (sequence: [string, string, string][]) => {
      const bed: Bed = { ...(await started(clock)), history: [] };
      const { store, state, interrupt, history, routes } = bed;
      await routes.start();
      await store.watch(ROUTES_PREFIX, { changed: (changes) => history.push(...changes), interrupted() {} });
      for (const [what, ...which] of sequence) await acts[what]?.(bed, ...which);
      await Bun.sleep(0);
      if (state.deaf) interrupt();
      const content = await expected(store);
      await waitFor(() => Bun.deepEquals(contentOf(routes.table), content), { pollMs: 1 });
      await routes.stop();
    };
    await fc.assert(fc.asyncProperty(fc.array(act, { maxLength: 15 }), scenario), { numRuns: runs(40) });
  });
});
