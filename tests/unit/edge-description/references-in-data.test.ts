import { expect, test } from "bun:test";
import { WorkBudget } from "../../../lib/edge-description/work-budget.ts";

/** OpenAPI tools follow a `$ref` even in examples, so a value that contains a `$ref` is not used as data. */
test.each([
  [{ $ref: "path" }, true],
  [{ a: [1, { b: { $ref: 7 } }] }, true],
  [[{ $ref: null }], true],
  [{ ref: "$ref", list: ["$ref"] }, false],
  ["$ref", false],
  [null, false],
  [undefined, false],
])("%j contains a reference: %p", (value, expected) => {
  expect(new WorkBudget(1000).isData(value)).toBe(!expected);
});
