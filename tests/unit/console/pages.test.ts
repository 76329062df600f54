import { expect, test } from "bun:test";
import fc from "fast-check";
import { pageOf } from "../../../apps/console/parts/pages.ts";

test("the pages contain every row once, in order, and no page is too long", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 200 }), fc.integer({ min: 1, max: 60 }), (rows, size) => {
      const { count } = pageOf(rows, 1, size);
      const pages = Array.from({ length: count }, (_, index) => pageOf(rows, index + 1, size));
      expect(pages.flatMap((page) => page.rows)).toEqual(rows);
      expect(pages.every((page) => page.rows.length <= size)).toBe(true);
    }),
  );
});

test.each([
  [-5, 1],
  [0, 1],
  [2, 2],
  [99, 3],
])("a request for page %p of three shows page %p", (asked, number) => {
  const page = pageOf(Array(7).fill("row"), asked, 3);
  expect(page).toMatchObject({ number, count: 3, total: 7 });
});

test("a list without rows has one page", () => {
  expect(pageOf([], 4)).toEqual({ rows: [], number: 1, count: 1, first: 1, last: 0, total: 0 });
});
