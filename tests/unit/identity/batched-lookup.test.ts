import { expect, test } from "bun:test";
import { BatchedLookup } from "../../../apps/identity/validations/batched-lookup.ts";

/** Returns a lookup whose first `failures` queries fail. Each key except "unknown" has a row: the key itself. */
function lookup(failures = 0) {
  const asked: (readonly string[])[] = [];
  let left = failures;
  const rows = new BatchedLookup(async (keys) => {
    asked.push(keys);
    if (left-- > 0) throw new Error("The query failed.");
    return new Map(keys.filter((key) => key !== "unknown").map((key) => [key, key]));
  });
  return { rows, asked };
}

test("keys that are requested at the same time are one query, and each gets its own row", async () => {
  const { rows, asked } = lookup();
  const wanted = ["a", "unknown", "b", "a"];
  expect(await Promise.all(wanted.map((key) => rows.find(key)))).toEqual(["a", null, "b", "a"]);
  expect(asked).toEqual([wanted]);
  expect(await rows.find("c")).toBe("c");
  expect(asked).toHaveLength(2);
});

test("no query has more than a hundred keys", async () => {
  const { rows, asked } = lookup();
  const wanted = Array.from({ length: 250 }, (_, index) => String(index));
  expect(await Promise.all(wanted.map((key) => rows.find(key)))).toEqual(wanted);
  expect(asked.map(({ length }) => length)).toEqual([100, 100, 50]);
});

test("a query that fails rejects all of its keys, and no other keys", async () => {
  const { rows } = lookup(1);
  const failed = await Promise.allSettled([rows.find("a"), rows.find("unknown")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await Promise.all([rows.find("a"), rows.find("unknown")])).toEqual(["a", null]);
});
