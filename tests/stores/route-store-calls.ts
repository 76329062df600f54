import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { recordChanges } from "./recorded-changes.ts";

/** Makes every call of a route store at the same time. */
export function everyCall(store: RouteStore, pingMs: number): Promise<unknown>[] {
  return [
    store.get("calls/a"),
    store.list("calls/"),
    store.summarize("calls/"),
    store.put("calls/a", "1"),
    store.delete("calls/a"),
    store.writeFenced({ key: "calls/a", value: "1", fence: { key: "fences/calls", value: 1 } }),
    recordChanges(store, "calls/"),
    store.ping(pingMs),
  ];
}
