import { describe, expect, test } from "bun:test";
import { jsonSyntaxError } from "@ostiary/lib/runtime/documents";
import fc from "fast-check";
import { runs } from "../../support/runs.ts";

const ESCAPE = "the string that begins here has an unknown escape: write \\\\ for a backslash.";

// RG-36
describe("the syntax error in a JSON text", () => {
  test.each([
    ["", 0, "a value is missing."],
    ["{", 1, "a } is missing at the end."],
    ['{"a": [1, 2', 11, "a ] is missing at the end."],
    ['{"a": 1,}', 8, "remove the comma before the }."],
    ["[1,]", 3, "remove the comma before the ]."],
    ["[1,,2]", 3, "a value is missing."],
    ['{"a" 1}', 5, "a colon is missing after the key."],
    ['{"a": }', 6, "a value is missing."],
    ['{"a": 1 "b": 2}', 8, "a comma or a closing bracket is missing."],
    ['{"a": 1]', 7, "a comma or a closing bracket is missing."],
    ["{'a': 1}", 1, "expected a key or a value: write strings and keys in double quotes."],
    ['{"a": 1} // note', 9, "text follows the end of the JSON."],
    ['{"a": // note\n1}', 6, "JSON has no comments."],
    ['["a\nb"]', 1, "the string that begins here is not closed on its line."],
    ['["\\d"]', 1, ESCAPE],
    ['["\\u12g4"]', 1, ESCAPE],
    ['["\\', 1, "the string that begins here is not closed on its line."],
    ['["\t"]', 1, "the string that begins here has a control character: write it as an escape, such as \\t."],
    ["01", 1, "text follows the end of the JSON."],
    ["nul", 0, "expected a key or a value: write strings and keys in double quotes."],
    ["{}}", 2, "text follows the end of the JSON."],
  ])("has an offset and a reason: %j", (text, offset, reason) => {
    expect(jsonSyntaxError(text)).toEqual({ offset, reason });
  });

  test("is null exactly if JSON.parse accepts the text", () => {
    const words = ['"a"', "true", "null", "\\u0061", "-1.5e3"];
    const piece = fc.constantFrom(..."{}[],:\"\\ \n'01-+.eE/#utrfn", ...words);
    const broken = fc.tuple(fc.json(), fc.nat(), fc.nat(3), piece).map(([text, at, length, put]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + put + text.slice(start + length);
    });
    const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.oneof(broken, soup, fc.json()), (text) => {
        expect(jsonSyntaxError(text) === null).toBe(isJson(text));
      }),
      { numRuns: runs(500) },
    );
  });

  test("is found in a text of any length", () => {
    expect(jsonSyntaxError(`["${'\\"'.repeat(2_000_000)}`)?.offset).toBe(1);
    expect(jsonSyntaxError(`[${"1,".repeat(2_000_000)}]`)?.offset).toBe(4_000_001);
    expect(jsonSyntaxError(" ".repeat(4_000_000))?.offset).toBe(4_000_000);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
