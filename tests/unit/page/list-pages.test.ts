import { expect, test } from "bun:test";
import { succeeded } from "@ostiary/lib/page/failure";
import { type ListPage, readAfter } from "@ostiary/lib/page/list-pages";

/** Reads the page after `before` from a server that responds with `items`. */
const read = (before: string[], items: string[], has_more: boolean) =>
  readAfter<string>(
    before,
    async () => succeeded<ListPage<string>>({ items, has_more }),
    (item) => item,
  );

test.each([
  ["a new item", ["a"], ["b"], true],
  ["the first items", [], ["a", "b"], true],
  ["no item, at the end", ["a"], [], false],
  ["a known item, at the end", ["a"], ["a"], false],
])("a page with %s is joined to the items before it", async (_, before, items, has_more) => {
  expect(await read(before, items, has_more)).toEqual(succeeded({ items: [...before, ...items], has_more }));
});

test.each([
  ["no item", ["a"], []],
  ["no item at all", [], []],
  ["the same item at its end", ["a"], ["b", "a"]],
  ["an earlier item at its end", ["a", "b"], ["a"]],
])("a page with %s that others follow is an unexpected response", async (_, before, items) => {
  expect(await read(before, items, true)).toMatchObject({ ok: false, failure: { kind: "unexpected" } });
});
