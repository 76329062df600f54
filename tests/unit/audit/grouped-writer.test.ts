import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import fc from "fast-check";
import { GroupedWriter } from "../../../apps/audit/writes/grouped-writer.ts";
import { rejection } from "../../support/index.ts";
import { runs } from "../../support/runs.ts";

const limits = { groupMax: 4, writesMax: 1, queueMax: 100 };

/** Returns a writer. Each of its writes lasts until the test calls `open`. */
function gated(overrides: Partial<typeof limits> = {}) {
  const groups: string[][] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const writer = new GroupedWriter<string, string>(
    async (items) => {
      groups.push(items);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return items.map((item) => `${item} written`);
    },
    { ...limits, ...overrides },
  );
  /** Ends the oldest write in progress and lets the next one begin. */
  const open = async () => {
    gates.shift()?.resolve();
    await turn();
  };
  return { writer, groups, open, gates };
}

/** Writes one item, whose key is its text. */
const addTo = async <Item, Result>(writer: GroupedWriter<Item, Result>, item: Item) =>
  (await Promise.all(writer.add([{ key: String(item), item }])))[0];

/** Waits until the callbacks of all settled promises have run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a grouped writer", () => {
  test("groups items that arrive during a write, up to the maximum group size", async () => {
    const { writer, groups, open } = gated();
    const all = ["a", "b", "c", "d", "e", "f"].map((item) => addTo(writer, item));
    expect(groups).toEqual([["a"]]);
    await open();
    await open();
    await open();
    expect(groups).toEqual([["a"], ["b", "c", "d", "e"], ["f"]]);
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d", "e", "f"].map((item) => `${item} written`));
  });

  test("writes several items in one group, except items with the same key", async () => {
    const { writer, groups, open } = gated();
    const keys = ["a", "b", "a"];
    const all = writer.add(keys.map((key, n) => ({ key, item: `${key}${n}` })));
    expect(groups).toEqual([["a0", "b1"]]);
    await open();
    expect(groups).toEqual([["a0", "b1"], ["a2"]]);
    await open();
    expect(await Promise.all(all)).toEqual(["a0 written", "b1 written", "a2 written"]);
  });

  test("starts a second concurrent write only for a full group", async () => {
    const { writer, groups } = gated({ writesMax: 2 });
    for (const item of ["a", "b", "c", "d"]) void addTo(writer, item);
    expect(groups).toEqual([["a"]]);
    void addTo(writer, "e");
    expect(groups).toEqual([["a"], ["b", "c", "d", "e"]]);
    for (const item of ["f", "g", "h", "i", "j"]) void addTo(writer, item);
    expect(groups).toHaveLength(2);
  });

  // AU-29
  test("refuses items when its queue is full", async () => {
    const { writer, open } = gated({ queueMax: 2 });
    const all = ["a", "b", "c"].map((item) => addTo(writer, item));
    expect(await rejection(addTo(writer, "d"))).toBeInstanceOf(StoreUnavailable);
    await open();
    await open();
    await Promise.all(all);
    const later = addTo(writer, "e");
    await open();
    expect(await later).toBe("e written");
  });

  test("retries the items of a failed group one by one, so that only bad items fail", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (good) => {
        const written: number[] = [];
        const writer = new GroupedWriter<number, number>(
          async (items) => {
            await turn();
            if (items.some((item) => !good[item])) throw new Error("bad member");
            written.push(...items);
            return items;
          },
          { ...limits, writesMax: 2 },
        );
        const results = await Promise.allSettled(good.map((_, n) => addTo(writer, n)));
        expect(results.map(({ status }) => status === "fulfilled")).toEqual(good);
        expect(written.toSorted((a, b) => a - b)).toEqual(good.flatMap((each, n) => (each ? [n] : [])));
      }),
      { numRuns: runs(50) },
    );
  });

  // AU-27
  test("fails a whole group after one write when the store is down", async () => {
    let writes = 0;
    const writer = new GroupedWriter<string, string>(async () => {
      writes += 1;
      await turn();
      throw new StoreUnavailable("database", new Error("down"));
    }, limits);
    const results = await Promise.all(["a", "b", "c"].map((item) => rejection(addTo(writer, item))));
    expect(results.every((error) => error instanceof StoreUnavailable)).toBe(true);
    expect(writes).toBe(2);
  });
});
