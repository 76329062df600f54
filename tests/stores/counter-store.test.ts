import { describe, expect, test } from "bun:test";
import {
  MemoryCounterStore,
  observeNothing,
  openCounterStore,
} from "@ostiary/lib/runtime/stores/counter-store";
import { freshCounterStoreUrl, rejection, services } from "../support/index.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { describeCounterStore } from "./counter-store-suite.ts";

describeCounterStore("memory", async () => "memory://");
if (services().redis.real) describeCounterStore("Redis", freshCounterStoreUrl);

test("a counter store refuses a URL of another kind", async () => {
  for (const url of ["http://localhost", "localhost:6379", "redis+cluster://", "redis+cluster://a,,b", ""]) {
    expect(await rejection(openCounterStore(url))).toBeInstanceOf(TypeError);
  }
});

describe("counter store in memory", () => {
  test("ends a window after exactly its length", async () => {
    const time = manualClock();
    const store = new MemoryCounterStore("suite", observeNothing, time);
    expect(await store.increment("a", 60)).toEqual({ count: 1, ttlMs: 60_000 });
    time.advance(59_999);
    expect(await store.increment("a", 60)).toEqual({ count: 2, ttlMs: 1 });
    time.advance(1);
    expect(await store.increment("a", 60)).toEqual({ count: 1, ttlMs: 60_000 });
  });

  test("returns whole milliseconds with a clock that has fractions", async () => {
    const time = manualClock(0);
    const store = new MemoryCounterStore("suite", observeNothing, {
      ...time,
      elapsedMs: () => time.elapsedMs() + 0.1234567,
    });
    for (let step = 0; step < 1_000; step++) {
      expect(await store.increment(`a${step}`, 1)).toEqual({ count: 1, ttlMs: 1_000 });
      time.advance(333);
      expect(await store.increment(`a${step}`, 1)).toEqual({ count: 2, ttlMs: 667 });
    }
  });

  test("holds at most twice as many windows as are open", async () => {
    const time = manualClock();
    const store = new MemoryCounterStore("suite", observeNothing, time);
    for (let generation = 0; generation < 20; generation++) {
      for (let index = 0; index < 1_000; index++) await store.increment(`${generation}-${index}`, 10);
      expect(store.size).toBeLessThanOrEqual(2_000);
      time.advance(10_000);
    }
  });

  test("keeps a long window while many short ones end", async () => {
    const time = manualClock();
    const store = new MemoryCounterStore("suite", observeNothing, time);
    await store.increment("long", 3_600);
    for (let index = 0; index < 5_000; index++) {
      await store.increment(`short-${index}`, 1);
      time.advance(100);
    }
    expect((await store.increment("long", 3_600)).count).toBe(2);
    expect(store.size).toBeLessThan(50);
  });
});
