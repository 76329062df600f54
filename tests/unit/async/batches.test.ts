import { describe, expect, test } from "bun:test";
import { Batches, type BatchOptions, rejectEach, resolveEach } from "@ostiary/lib/async";

/** The maximum number of rounds. A timer of 1 ms fires much sooner unless the event loop is starved. */
const ROUNDS_MAX = 20_000;

const WAYS: [string, BatchOptions, number][] = [
  ["full batches", { itemsMax: 4 }, 16],
  ["batches of one item", { itemsMax: 1 }, 3],
  ["a first batch that begins at once", { itemsMax: 8, atOnce: true }, 1],
  ["items that wait for the batch in progress", { itemsMax: 8, atOnce: true, waitMs: 1_000 }, 5],
  [
    "the maximum number of batches in progress",
    { itemsMax: 2, batchesMax: 2, atOnce: true, waitMs: Number.POSITIVE_INFINITY },
    16,
  ],
];

describe("callers that retry failed work at once", () => {
  test.each(WAYS)("do not starve timers: %s", async (_, options, callers) => {
    const refusal = new Error("refused");
    const batches = new Batches<number, void>(async (members) => rejectEach(members, refusal), options);
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 1);
    const rounds = await Promise.all(
      Array.from({ length: callers }, async (_each, caller) => {
        let round = 0;
        while (!fired && round < ROUNDS_MAX) {
          await batches.add(caller).catch((error: unknown) => expect(error).toBe(refusal));
          round += 1;
        }
        return round;
      }),
    );
    expect(fired).toBe(true);
    expect(Math.max(...rounds)).toBeLessThan(ROUNDS_MAX);
    expect(batches.waiting).toBe(0);
  });
});

describe("a burst of items", () => {
  test.each(WAYS)("gets a result for each item, in batches of at most itemsMax: %s", async (_, options) => {
    const sizes: number[] = [];
    const batches = new Batches<number, number>(async (members) => {
      sizes.push(members.length);
      await Promise.resolve();
      resolveEach(
        members,
        members.map(({ item }) => item * 2),
      );
    }, options);
    const items = Array.from({ length: 1_003 }, (_each, index) => index);
    const results = await Promise.all(items.map((item) => batches.add(item)));
    expect(results).toEqual(items.map((item) => item * 2));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(options.itemsMax);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(items.length);
    expect(batches.waiting).toBe(0);
  });
});
