import { expect, test } from "bun:test";
import { valueAt } from "@ostiary/lib/openapi";

/** The document of RFC 6901, section 5. */
const DOCUMENT = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

test.each([
  ["#/foo", ["bar", "baz"]],
  ["#/foo/0", "bar"],
  ["#/", 0],
  ["#/a~1b", 1],
  ["#/c%25d", 2],
  ["#/e%5Ef", 3],
  ["#/g%7Ch", 4],
  ["#/i%5Cj", 5],
  ["#/k%22l", 6],
  ["#/%20", 7],
  ["#/m~0n", 8],
  ["#/foo%2F1", "baz"],
  ["#/m%7E0n", 8],
])("the fragment %s leads to %j", (reference, value) => {
  expect(valueAt(DOCUMENT, reference)).toEqual(value);
});

test.each(["", "foo", "other.json#/foo", "#/c%d", "#/foo/2", "#/toString", `#/${"x".repeat(2_048)}`])(
  "the reference %j leads nowhere",
  (reference) => {
    expect(valueAt({ ...DOCUMENT, ["x".repeat(2_048)]: 1 }, reference)).toBeUndefined();
  },
);
