import { expect, test } from "bun:test";
import { LastUseBuffer } from "../../../apps/identity/api-keys/last-use-buffer.ts";

test("the latest use of each key waits to be stored, in whatever order uses are noted", () => {
  const uses = new LastUseBuffer();
  for (const atMs of [5, 9, 7]) uses.note({ id: "a", atMs });
  uses.note({ id: "b", atMs: 1 });
  expect(uses.batches()).toEqual([
    [
      { id: "a", atMs: 9 },
      { id: "b", atMs: 1 },
    ],
  ]);
});

test("a use that is noted while an earlier use is stored keeps waiting", () => {
  const uses = new LastUseBuffer();
  uses.note({ id: "a", atMs: 1 });
  uses.note({ id: "b", atMs: 1 });
  const [batch = []] = uses.batches();
  uses.note({ id: "a", atMs: 2 });
  uses.settle(batch);
  expect(uses.batches()).toEqual([[{ id: "a", atMs: 2 }]]);
});

test("at most 100 000 keys wait, and the times of waiting keys still advance", () => {
  const uses = new LastUseBuffer();
  for (let key = 0; key < 100_005; key++) uses.note({ id: `key ${key}`, atMs: 1 });
  uses.note({ id: "key 0", atMs: 2 });
  expect(uses.waiting).toBe(100_000);
  const batches = uses.batches();
  expect(batches[0]?.[0]).toEqual({ id: "key 0", atMs: 2 });
  expect(Math.max(...batches.map(({ length }) => length))).toBe(500);
  for (const batch of batches) uses.settle(batch);
  expect(uses.waiting).toBe(0);
});
