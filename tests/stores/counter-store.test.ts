import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CounterStore,
  MemoryCounterStore,
  observeNothing,
  openCounterStore,
} from "@ostiary/lib/runtime/stores/counter-store";
import { freshCounterStoreUrl, services, waitFor } from "../support/index.ts";
import { manualClock } from "../support/time/manual-clock.ts";

/** Defines the tests that every adapter of the counter store must pass. The store is at `url`. */
function describeCounterStore(adapter: string, url: () => Promise<string>): void {
  // OP-12
  describe(`counter store on ${adapter}`, () => {
    let store: CounterStore;

    beforeAll(async () => {
      store = await openCounterStore(await url());
    });
    afterAll(() => store.close());

    // GW-69
    test("returns each count from 1 to 500 exactly once to 500 concurrent calls", async () => {
      const counts = await Promise.all(
        Array.from({ length: 500 }, async () => (await store.increment("crowd", 60)).count),
      );
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    });

    // GW-68
    test("opens a window of exactly the requested length", async () => {
      expect(await store.increment("one second", 1)).toEqual({ count: 1, ttlMs: 1_000 });
      expect(await store.increment("one minute", 60)).toEqual({ count: 1, ttlMs: 60_000 });
      expect(await store.increment("one month", 2_592_000)).toEqual({ count: 1, ttlMs: 2_592_000_000 });
    });

    test("opens a new window when the old one has ended", async () => {
      await store.increment("short", 1);
      let last = 1;
      const reopened = await waitFor(async () => {
        const { count, ttlMs } = await store.increment("short", 1);
        expect(ttlMs).toBeWithin(1, 1_001);
        if (count === 1) return { ttlMs };
        expect(count).toBe(last + 1);
        last = count;
        return null;
      });
      expect(reopened.ttlMs).toBe(1_000);
      expect(last).toBeGreaterThan(1);
    });

    // GW-199
    test("ends a window at the latest after its present length", async () => {
      await store.increment("shortened", 86_400);
      expect(await store.increment("shortened", 10)).toEqual({ count: 2, ttlMs: 10_000 });
      const { count, ttlMs } = await store.increment("shortened", 86_400);
      expect(count).toBe(3);
      expect(ttlMs).toBeWithin(1, 10_001);
    });

    const charge = (bucket: string, requests: number, seconds = 60, start: number | null = 0) => ({
      bucket: `${bucket}{subject}`,
      windowMs: seconds * 1000,
      isPeriod: false,
      requests,
      start,
    });
    const quota = (bucket: string, requests: number, start: number | null, seconds = 3_600) => ({
      ...charge(bucket, requests, seconds, start),
      isPeriod: true,
    });
    const charged = async (...charges: ReturnType<typeof charge>[]) => {
      const counts = await store.charge(charges);
      if (counts === null) throw new Error("The start count of a bucket is unknown.");
      return counts;
    };
    const countsOf = async (...charges: ReturnType<typeof charge>[]) =>
      (await charged(...charges)).map(({ count }) => count);

    // GW-181
    test("charges several buckets until one of them is exhausted, and then none", async () => {
      const both = [charge("of two", 2), charge("of nine", 9, 3_600)];
      expect(await countsOf(...both)).toEqual([1, 1]);
      expect(await countsOf(...both)).toEqual([2, 2]);
      expect(await countsOf(...both)).toEqual([3, 2]);
      expect(await countsOf(...both)).toEqual([3, 2]);
      expect(await countsOf(charge("of nine", 9, 3_600))).toEqual([3]);
      const [first, second] = await charged(...both);
      expect(first?.ttlMs).toBeWithin(1, 60_001);
      expect(second?.ttlMs).toBeWithin(60_001, 3_600_001);
    });

    // GW-181
    test("admits exactly as many of 500 concurrent charges as the smallest limit allows", async () => {
      const asked = [charge("crowd of 45", 45), charge("crowd of 100", 100), charge("crowd of 900", 900)];
      const results = await Promise.all(Array.from({ length: 500 }, () => charged(...asked)));
      const admitted = results.filter((counts) =>
        counts.every(({ count }, index) => count <= (asked[index]?.requests ?? 0)),
      );
      expect(admitted).toHaveLength(45);
      expect(await countsOf(charge("crowd of 100", 100), charge("crowd of 900", 900))).toEqual([46, 46]);
    });

    // GW-192
    test("charges nothing, and returns null, while the start count of a bucket is unknown", async () => {
      const both = [charge("beside", 9), quota("unknown", 9, null)];
      expect(await store.charge(both)).toBeNull();
      expect(await store.charge(both)).toBeNull();
      expect(await countsOf(charge("beside", 9), quota("unknown", 9, 4))).toEqual([1, 5]);
      expect(await countsOf(...both)).toEqual([2, 6]);
      const [, open] = await charged(...both);
      expect(open?.ttlMs).toBeWithin(60_001, 3_600_001);
    });

    // GW-192
    test("adds the start count once, although many concurrent requests supply it", async () => {
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, index) => countsOf(quota("started", 1_000, index % 2 ? 700 : 650))),
      );
      const counts = results.flat().toSorted((a, b) => a - b);
      const first = counts[0] ?? 0;
      expect([651, 701]).toContain(first);
      expect(counts).toEqual(Array.from({ length: 200 }, (_, index) => first + index));
    });

    // GW-181, GW-192
    test("stores a start count that exhausts the bucket, so that it need not be supplied again", async () => {
      expect(await countsOf(charge("spared", 5), quota("spent", 3, 3))).toEqual([0, 4]);
      expect(await countsOf(charge("spared", 5), quota("spent", 3, null))).toEqual([0, 4]);
      expect(await countsOf(charge("spared", 5))).toEqual([1]);
    });

    // GW-181, GW-192
    test("refuses a charge for an exhausted bucket although the start count of another is unknown", async () => {
      await charged(charge("burst", 1));
      expect(await countsOf(charge("burst", 1), quota("not begun", 9, null))).toEqual([2, 0]);
      expect(await store.charge([quota("not begun", 9, null)])).toBeNull();
      expect(await countsOf(quota("not begun", 9, 0))).toEqual([1]);
    });

    // GW-199
    test("ends a charged window at the latest after its present length, exhausted or not", async () => {
      await charged(charge("exhausted", 1, 86_400), charge("not exhausted", 9, 86_400));
      const windows = await charged(charge("exhausted", 1, 10), charge("not exhausted", 9, 20));
      expect(windows).toMatchObject([
        { count: 2, ttlMs: 10_000 },
        { count: 1, ttlMs: 20_000 },
      ]);
      const [later] = await charged(charge("exhausted", 3, 86_400));
      expect(later?.count).toBe(2);
      expect(later?.ttlMs).toBeWithin(1, 10_001);
    });

    // GW-182, GW-199
    test("never moves the end of a calendar period, whatever the clock of a gateway says", async () => {
      await charged(quota("period", 9, 0, 86_400));
      const [behind] = await charged(quota("period", 9, 0, 90_000));
      const [ahead] = await charged(quota("period", 9, 0, 80_000));
      expect([behind?.count, ahead?.count]).toEqual([2, 3]);
      expect(behind?.ttlMs).toBeWithin(80_001_000, 86_400_001);
      expect(ahead?.ttlMs).toBeWithin(80_001_000, 86_400_001);
    });

    const windowOf = async (...asked: Parameters<typeof charge>) => {
      const [window] = await charged(charge(...asked));
      if (window === undefined) throw new Error("The store returned no window.");
      return window;
    };
    const refund = (bucket: string, endsMs: number) =>
      store.refund([{ bucket: `${bucket}{subject}`, endsMs }]);

    // GW-185
    test("refunds a charge to the window that ends at the given time", async () => {
      const { endsMs } = await windowOf("refunded", 2);
      expect(await refund("refunded", endsMs)).toEqual([true]);
      expect(await windowOf("refunded", 2)).toMatchObject({ count: 1 });
      expect(await refund("refunded", endsMs + 1_000)).toEqual([false]);
      expect(await refund("refunded", endsMs - 1_000)).toEqual([false]);
      expect(await refund("nobody counted", endsMs)).toEqual([false]);
      expect(await windowOf("refunded", 2)).toMatchObject({ count: 2 });
      expect(await windowOf("nobody counted", 2)).toMatchObject({ count: 1 });
    });

    // GW-185
    test("refunds at most what was counted", async () => {
      const { endsMs } = await windowOf("refunded twice", 2);
      expect(await refund("refunded twice", endsMs)).toEqual([true]);
      expect(await refund("refunded twice", endsMs)).toEqual([false]);
      expect(await windowOf("refunded twice", 2)).toMatchObject({ count: 1 });
    });

    // GW-68, GW-185
    test("does not move the end of a window that a refund emptied", async () => {
      const { endsMs } = await windowOf("emptied", 2);
      await refund("emptied", endsMs);
      await Bun.sleep(20); // Lets the clock advance, so that another window would end later.
      expect(await refund("emptied", (await windowOf("emptied", 2)).endsMs)).toEqual([true]);
      expect((await store.increment("emptied{subject}", 60)).count).toBe(1);
      expect((await windowOf("emptied", 2)).endsMs).toBeWithin(endsMs - 5, endsMs + 6);
    });

    // GW-185
    test("gives nothing to a window that was opened after the charged one ended", async () => {
      const old = await windowOf("ended", 1_000, 1);
      const next = await waitFor(async () => {
        const window = await windowOf("ended", 1_000, 1);
        return window.count === 1 ? window : null;
      });
      expect(await refund("ended", old.endsMs)).toEqual([false]);
      const { count } = await windowOf("ended", 1_000, 60);
      expect(count).toBe(next.count + 1);
    });
  });
}

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
