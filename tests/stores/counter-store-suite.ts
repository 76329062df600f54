import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CounterStore,
  openCounterStore,
  type StoreOperation,
} from "@ostiary/lib/runtime/stores/counter-store";
import { waitFor } from "../support/index.ts";

/** What every adapter of the counter store promises, on the store that `url` gives. */
export function describeCounterStore(adapter: string, url: () => Promise<string>): void {
  describe(`counter store on ${adapter}`, () => {
    const operations: StoreOperation[] = [];
    let store: CounterStore;

    beforeAll(async () => {
      store = await openCounterStore(await url(), {
        namespace: "suite",
        observer: (operation) => operations.push(operation),
      });
    });
    afterAll(() => store.close());

    test("counts from one, each bucket for itself", async () => {
      expect((await store.increment("a", 60)).count).toBe(1);
      expect((await store.increment("a", 60)).count).toBe(2);
      expect((await store.increment("b", 60)).count).toBe(1);
      expect((await store.increment("a", 60)).count).toBe(3);
    });

    test("takes any bucket name as it is", async () => {
      for (const bucket of [
        "GET /v1/{id} 127.0.0.1",
        "service:policy:ä",
        " ",
        "{x}",
        "a\nb",
        "x".repeat(2000),
      ]) {
        expect((await store.increment(bucket, 60)).count).toBe(1);
        expect((await store.increment(bucket, 60)).count).toBe(2);
      }
    });

    test("gives five hundred at once every count from 1 to 500, once", async () => {
      const counts = await Promise.all(
        Array.from({ length: 500 }, async () => (await store.increment("crowd", 60)).count),
      );
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    });

    test("opens a window of exactly the length asked for", async () => {
      expect(await store.increment("one second", 1)).toEqual({ count: 1, ttl_ms: 1_000 });
      expect(await store.increment("one minute", 60)).toEqual({ count: 1, ttl_ms: 60_000 });
      expect(await store.increment("one month", 2_592_000)).toEqual({ count: 1, ttl_ms: 2_592_000_000 });
    });

    test("never moves a window that is open", async () => {
      let previous = (await store.increment("fixed", 60)).ttl_ms;
      for (let time = 0; time < 20; time++) {
        const { ttl_ms } = await store.increment("fixed", 3_600);
        expect(ttl_ms).toBeLessThanOrEqual(previous);
        expect(ttl_ms).toBeGreaterThan(0);
        previous = ttl_ms;
        await Bun.sleep(1);
      }
      expect(previous).toBeLessThan(60_000);
    });

    test("opens a new window when the old one has ended, and tells less than its length until then", async () => {
      await store.increment("short", 1);
      let last = 1;
      const reopened = await waitFor(async () => {
        const { count, ttl_ms } = await store.increment("short", 1);
        expect(ttl_ms).toBeWithin(1, 1_001);
        if (count === 1) return { ttl_ms };
        expect(count).toBe(last + 1);
        last = count;
        return null;
      });
      expect(reopened.ttl_ms).toBe(1_000);
      expect(last).toBeGreaterThan(1);
    });

    test("answers a ping", async () => {
      await store.ping(500);
    });

    test("tells its observer of each count", async () => {
      operations.length = 0;
      await store.increment("observed", 60);
      expect(operations.map(({ operation, namespace, failed }) => [operation, namespace, failed])).toEqual([
        ["increment", "suite", false],
      ]);
    });
  });
}
