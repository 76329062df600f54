import { describe, expect, test } from "bun:test";
import { isBlank } from "@ostiary/lib/contracts/identity-api";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { personText, trimmed } from "../../../apps/identity/fields.ts";

const MAX = 128;
const schema = personText(MAX, { description: "A name.", examples: ["Ada"] });
const accepts = TypeCompiler.Compile(schema);
const check = (value: unknown) => accepts.Check(value);

// ID-6
describe("a text field of a person", () => {
  test.each([
    "A",
    "  Grace  ",
    "\t\nGrace Hopper\r\n",
    "x".repeat(MAX),
    "🚪".repeat(MAX),
    `${" ".repeat(62_000)}${"🚪".repeat(MAX)}${" ".repeat(62_000)}`,
    "Ünïcode 🚪",
    "a\u2028b",
    "e\u0301\u200d",
    "\u200b \u202eA",
    "\ufffe\uffff",
  ])("%j is accepted", (text) => {
    expect([check(text), Value.Check(schema, text)]).toEqual([true, true]);
    expect(trimmed(text)).toBe(text.trim());
  });

  test.each([
    "",
    " \t\n\u00a0\u2003\ufeff ",
    "x".repeat(MAX + 1),
    "🚪".repeat(MAX + 1),
    "\u200b",
    " \u202e\u00a0\u2060 ",
    "\u00ad\u3164\u2800\ufe0f",
    "a\nb",
    "a\tb",
    "a\u0000b",
    "a\u007f",
    "\u0085a",
    "\ud800",
    "a\udc00b",
    "🚪\ud83d",
    7,
    true,
    null,
    [["Ada"]],
    { toString: "Ada" },
  ])("%j is refused", (value) => {
    expect([check(value), Value.Check(schema, value)]).toEqual([false, false]);
    expect([...Value.Errors(schema, value)].map(({ path }) => path)).toEqual([""]);
  });

  test("is checked exactly as the keywords of its JSON Schema say, with and without the Unicode flag", () => {
    const { minLength, maxLength, pattern } = schema;
    const dialects = [new RegExp(pattern), new RegExp(pattern, "u"), new RegExp(pattern, "v")];
    const matching = (text: string) => {
      const length = Array.from(text).length;
      const matches = dialects.map((dialect) => dialect.test(text));
      expect(new Set(matches).size).toBe(1);
      return length >= minLength && length <= maxLength && matches[0];
    };
    for (let code = 0; code <= 0xffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCharCode(code);
      for (const text of [character, `a${character}b`, `${character}🚪${character}`]) {
        expect([code, matching(text)]).toEqual([code, check(text)]);
      }
    }
    const unit = fc.constantFrom(..."a 🚪\u00a0\u2003\ufeff\n\u0085\u200d\u202e\\-]");
    fc.assert(
      fc.property(fc.array(unit, { maxLength: MAX }), (units) => {
        expect(matching(units.join(""))).toBe(check(units.join("")));
      }),
    );
  });

  test("needs a character that shows something", () => {
    for (let code = 0; code <= 0xffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCharCode(code);
      if (isBlank(character)) expect([code, check(character)]).toEqual([code, false]);
    }
  });

  test("has a pattern without look-around, named classes and code point escapes", () => {
    const escapes: string[] = String(schema.pattern).match(/\\./g) ?? [];
    expect(new Set(escapes)).toEqual(new Set(["\\t", "\\r", "\\x"]));
    expect(schema.pattern).not.toMatch(/\(\?[^:]|\\x(?![0-9a-f]{2})/);
  });
});
