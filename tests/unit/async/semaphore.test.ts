import { describe, expect, test } from "bun:test";
import { KeyedSemaphore, NoPermit, Semaphore } from "@ostiary/lib/async";
import fc from "fast-check";

describe("a semaphore", () => {
  test("grants permits first come, first served, and ignores a second release", async () => {
    const semaphore = new Semaphore(2);
    const [first, second] = [await semaphore.acquire(), await semaphore.acquire()];
    const order: string[] = [];
    const waiting = ["a", "b", "c"].map((name) =>
      semaphore.acquire().then((release) => {
        order.push(name);
        return release;
      }),
    );
    expect(semaphore.idle).toBe(false);
    first();
    first();
    await waiting[0];
    await Promise.resolve();
    expect(order).toEqual(["a"]);
    second();
    await waiting[1];
    (await waiting[0])?.();
    (await waiting[1])?.();
    (await waiting[2])?.();
    expect(order).toEqual(["a", "b", "c"]);
    expect(semaphore.idle).toBe(true);
  });

  test("refuses at once when its queue is full, and after a timeout when no permit becomes free", async () => {
    const semaphore = new Semaphore(1, 1);
    const release = await semaphore.acquire();
    const waiting = semaphore.acquire(1);
    expect(semaphore.acquire(60_000)).rejects.toBeInstanceOf(NoPermit);
    expect(waiting).rejects.toBeInstanceOf(NoPermit);
    await waiting.catch(() => {});
    release();
    expect(semaphore.idle).toBe(true);
    (await semaphore.acquire(1))();
  });

  test("never runs more work at once than it has permits, and finishes all work", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(4), { maxLength: 40 }),
        async (permits, turns) => {
          const semaphore = new Semaphore(permits);
          let running = 0;
          let most = 0;
          const work = async (count: number) => {
            running += 1;
            most = Math.max(most, running);
            for (let turn = 0; turn < count; turn++) await Promise.resolve();
            running -= 1;
          };
          await Promise.all(turns.map((count) => semaphore.run(() => work(count))));
          expect(most).toBeLessThanOrEqual(permits);
          expect([running, semaphore.idle]).toEqual([0, true]);
        },
      ),
    );
  });
});

test("different keys of a keyed semaphore do not wait for each other", async () => {
  const keyed = new KeyedSemaphore(1, 0);
  const release = await keyed.acquire("a", 0);
  expect(keyed.acquire("a", 0)).rejects.toBeInstanceOf(NoPermit);
  (await keyed.acquire("b", 0))();
  release();
  (await keyed.acquire("a", 0))();
});
