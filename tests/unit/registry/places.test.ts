import { describe, expect, test } from "bun:test";
import {
  decodeUtf8,
  InvalidText,
  locate,
  parseJsonText,
  parseText,
  type TextPosition,
} from "@ostiary/lib/runtime/documents";
import fc from "fast-check";
import { stringify } from "yaml";
import { thrownBy } from "../../support/thrown.ts";

type Path = (string | number)[];

/** Returns the paths of all fields and items of a value. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const parts: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return parts.flatMap(([key, part]) => [[...path, key], ...pathsOf(part, [...path, key])]);
}

/** Returns each named field of a value, and the text from the place of the field to the end of its line. */
function fieldsIn(text: string, value: unknown): { name: string; at: string }[] {
  const paths = pathsOf(value);
  const places = locate(text, paths);
  const lines = text.split("\n");
  return paths.flatMap((path, index) => {
    const name = path.at(-1);
    const { line, column } = places[index] ?? { line: 0, column: 0 };
    return typeof name === "string" ? [{ name, at: (lines[line - 1] ?? "").slice(column - 1) }] : [];
  });
}

const key = fc.stringMatching(/^[a-z]{1,5}$/);
const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string());
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie("value")), fc.dictionary(key, tie("value"))),
}));

// RG-142
describe("the place of a field", () => {
  test("is its key, in JSON of any layout", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyValue), fc.constantFrom(0, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        for (const { name, at } of fieldsIn(text, value)) expect(at).toStartWith(JSON.stringify(name));
      }),
    );
  });

  test("is its key, in YAML of any style", () => {
    fc.assert(
      fc.property(fc.dictionary(key, anyValue), fc.boolean(), (value, isFlow) => {
        const text = stringify(value, {
          collectionStyle: isFlow ? "flow" : "any",
          aliasDuplicateObjects: false,
        });
        expect(parseText(text)).toEqual(value);
        for (const { name, at } of fieldsIn(text, value))
          expect(at).toMatch(new RegExp(`^(["']?)${name}\\1`));
      }),
    );
  });

  test("is the place of its parent if the document does not have the field", () => {
    const text = "services:\n  a:\n    - one\n    - two\n";
    expect(locate(text, [["services", "a", 1, "deeper"], ["services", "b"], ["other"], []])).toEqual([
      { line: 4, column: 7 },
      { line: 1, column: 1 },
      { line: 1, column: 1 },
      { line: 1, column: 1 },
    ]);
  });

  test("is the alias if an alias repeats the field, and may be below a key that is an alias", () => {
    const text = "a: &x { url: 1 }\nb: *x\nc: &name d\n*name : { e: 1 }\n";
    expect(
      locate(text, [
        ["a", "url"],
        ["b", "url"],
        ["d", "e"],
      ]),
    ).toEqual([
      { line: 1, column: 9 },
      { line: 2, column: 1 },
      { line: 4, column: 11 },
    ]);
  });

  test("is found in a document with the deepest nesting", () => {
    const depth = 64;
    const path = Array.from({ length: depth }, () => "a");
    for (const [open, close] of [
      ['{"a":', "}"],
      ["{a: ", "}"],
    ] as const) {
      const text = `${open.repeat(depth)}1${close.repeat(depth)}`;
      expect(locate(text, [path])).toEqual([{ line: 1, column: (depth - 1) * open.length + 2 }]);
    }
  });
});

describe("an error of parsing", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  test.each<[string, () => unknown, TextPosition | null, string, string]>([
    [
      "YAML with an open bracket",
      () => parseText("a: 1\nb: [\n"),
      { line: 3, column: 1 },
      "The YAML is not valid",
      ": a bracket, brace or quote above is not closed, or this line is indented less than the key that it belongs to.",
    ],
    [
      "two YAML documents",
      () => parseText("a: 1\n---\nb: 1", "file"),
      null,
      "The file holds several YAML documents: keep one.",
      "",
    ],
    [
      "JSON without a colon",
      () => parseJsonText('{\n  "a" 1}'),
      { line: 2, column: 7 },
      "The JSON is not valid",
      ": a colon is missing after the key.",
    ],
    ["an empty body", () => decodeUtf8(bytes(" ")), null, "The body is empty.", ""],
  ])("in %s has its place as a value", (_, parse, place, before, after) => {
    const stated = place === null ? "" : ` at line ${place.line}, column ${place.column}`;
    const message = before + stated + after;
    expect(thrownBy(InvalidText, parse)).toMatchObject({
      code: "VALIDATION_ERROR",
      message,
      details: { fields: [{ path: "", message }] },
      place,
      parts: [before, after],
    });
  });
});
