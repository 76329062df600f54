import { describe, expect, test } from "bun:test";
import { MemoryCounterStore, observeNothing } from "@ostiary/lib/runtime/stores/counter-store";
import { freshCounterStoreUrl, services } from "../support/index.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { describeCounterStore } from "./counter-store-suite.ts";

describeCounterStore("memory", async () => "memory://");
if (services().redis.real) describeCounterStore("Redis", freshCounterStoreUrl);

describe("counter store in memory", () => {
  test("holds at most twice as many windows as are open", async () => {
    const time = manualClock();
    const store = new MemoryCounterStore(observeNothing, time);
    for (let generation = 0; generation < 20; generation++) {
      for (let index = 0; index < 1_000; index++) await store.increment(`${generation}-${index}`, 10);
      expect(store.size).toBeLessThanOrEqual(2_000);
      time.advance(10_000);
    }
  });
});
