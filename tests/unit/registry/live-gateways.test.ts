import { describe, expect, test } from "bun:test";
import type { GatewayInstance } from "@ostiary/lib/contracts/gateway-instance";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import {
  memoryRouteStore,
  type RouteListener,
  type RouteStore,
  StoreUnavailable,
} from "@ostiary/lib/runtime/stores/route-store";
import { LiveGateways } from "../../../apps/registry/gateways/live-gateways.ts";
import { waitFor } from "../../support/index.ts";

/**
 * Returns live gateways on a store that the test controls. The watch of the store can miss changes, be
 * interrupted or fail, and its listings can be delayed.
 */
function bed() {
  const store = memoryRouteStore();
  const state = { deaf: false, failures: 0, watches: 0, listing: async () => {} };
  const listeners: RouteListener[] = [];
  const watched: Pick<RouteStore, "list" | "watch"> = {
    watch(prefix, listener) {
      state.watches += 1;
      if (state.failures-- > 0) throw new StoreUnavailable("route_store", new Error("away"));
      listeners.push(listener);
      return store.watch(prefix, {
        ...listener,
        changed: (changes) => {
          if (!state.deaf) listener.changed(changes);
        },
      });
    },
    async list(prefix) {
      const listing = await store.list(prefix);
      await state.listing();
      return listing;
    },
  };
  let changes = 0;
  const gateways = new LiveGateways(watched, () => {
    changes += 1;
  });
  return {
    state,
    gateways,
    changes: () => changes,
    interrupt: () => {
      for (const listener of listeners) listener.interrupted();
    },
    join: (id: string, store_revision = 1) =>
      store.put(INSTANCES_PREFIX + id, JSON.stringify(instance(id, store_revision))),
    leave: (id: string) => store.delete(INSTANCES_PREFIX + id),
    ids: () => gateways.instances?.map((each) => each.instance).sort(),
    revisionOf: (id: string) => gateways.instances?.find((each) => each.instance === id)?.store_revision,
  };
}

function instance(id: string, store_revision: number): GatewayInstance {
  const at = "2026-01-01T00:00:00.000Z";
  return { instance: id, started_at: at, loaded_at: at, store_revision, services: 1, routes: 1, skipped: [] };
}

describe("the running gateways", () => {
  test("are unknown before the first read, then follow each gateway that joins, changes or leaves", async () => {
    const { gateways, join, leave, ids, revisionOf, changes } = bed();
    await join("a");
    expect(gateways.instances).toBeNull();
    gateways.start();
    await waitFor(() => gateways.instances !== null);
    expect(ids()).toEqual(["a"]);
    await join("b");
    await waitFor(() => ids()?.length === 2);
    await join("a", 7);
    await waitFor(() => revisionOf("a") === 7);
    const before = changes();
    await leave("a");
    await waitFor(() => ids()?.length === 1);
    expect(changes()).toBe(before + 1);
    await gateways.stop();
  });

  test("are read again after an interruption of the watch, with all missed changes", async () => {
    const { state, gateways, join, leave, ids, interrupt } = bed();
    await join("a");
    gateways.start();
    await waitFor(() => ids()?.length === 1);
    state.deaf = true;
    await leave("a");
    await join("b");
    await Bun.sleep(1);
    expect(ids()).toEqual(["a"]);
    state.deaf = false;
    interrupt();
    await waitFor(() => ids()?.join() === "b");
    await gateways.stop();
  });

  test("are correct if gateways leave, join or change during a full read", async () => {
    const { state, gateways, join, leave, ids, revisionOf } = bed();
    await join("leaving");
    await join("moving", 1);
    state.listing = async () => {
      state.listing = async () => {};
      await leave("leaving");
      await join("moving", 2);
      await join("joining");
      await new Promise((resolve) => setImmediate(resolve));
    };
    gateways.start();
    await waitFor(() => gateways.instances !== null);
    expect(ids()).toEqual(["joining", "moving"]);
    expect(revisionOf("moving")).toBe(2);
    await gateways.stop();
  });

  test("are read again if the watch is interrupted during a full read", async () => {
    const { state, gateways, join, leave, ids, interrupt } = bed();
    await join("a");
    state.listing = async () => {
      state.listing = async () => {};
      state.deaf = true;
      await leave("a");
      await join("b");
      await Bun.sleep(1);
      state.deaf = false;
      interrupt();
    };
    gateways.start();
    await waitFor(() => ids()?.join() === "b");
    await gateways.stop();
  });

  test("are found when the store becomes available after two failed watches", async () => {
    const { state, gateways, join, ids } = bed();
    state.failures = 2;
    await join("a");
    gateways.start();
    await waitFor(() => ids()?.length === 1);
    expect(state.watches).toBe(3);
    await gateways.stop();
  });
});
