import { expect, test } from "bun:test";
import { holdsReference } from "../../../apps/registry/edge-document/service-schemas.ts";

/** Readers of OpenAPI follow a `$ref` wherever it stands, in examples and defaults too. */
test.each([
  [{ $ref: "path" }, true],
  [{ a: [1, { b: { $ref: 7 } }] }, true],
  [[{ $ref: null }], true],
  [{ ref: "$ref", list: ["$ref"] }, false],
  ["$ref", false],
  [null, false],
  [undefined, false],
])("a reference in %j: %p", (value, expected) => {
  expect(holdsReference(value)).toBe(expected);
});
