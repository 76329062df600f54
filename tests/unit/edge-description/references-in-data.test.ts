import { expect, test } from "bun:test";
import { Work } from "../../../lib/edge-description/work.ts";

/** Readers of OpenAPI follow a `$ref` anywhere, in examples and defaults too. */
test.each([
  [{ $ref: "path" }, true],
  [{ a: [1, { b: { $ref: 7 } }] }, true],
  [[{ $ref: null }], true],
  [{ ref: "$ref", list: ["$ref"] }, false],
  ["$ref", false],
  [null, false],
  [undefined, false],
])("a reference in %j: %p", (value, expected) => {
  expect(new Work(1000).isData(value)).toBe(!expected);
});
