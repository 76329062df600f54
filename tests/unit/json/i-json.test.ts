import { describe, expect, test } from "bun:test";
import { JsonTooDeep, NotIJson, parseIJson } from "@ostiary/lib/domain/json";
import fc from "fast-check";
import { thrownBy } from "../../support/thrown.ts";
import { wordsOf } from "../../support/words.ts";

describe("I-JSON", () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"":1,"":2}',
    '[{"b":{"c":[1,{"d":1,"e":2,"d":3}]}}]',
    '{"a":{"b":1},"c":[{"a":1}],"a":null}',
    '{"\\ud83d":1,"\\ud83d":2}',
    '{"__proto__":1,"__proto__":2}',
  ])("refuses an object with a repeated name: %s", (text) => {
    expect(() => parseIJson(text)).toThrow(/two members with the name/);
  });

  // Escaped in the text, and raw.
  const HALVES = ["\\ud800", "\\udfff", "a\\udbffb", "\\udc00\\ud800", "🚪\\ud83d", "\ud800", "\udc00\ud83d"];
  const NONCHARACTERS = [
    ...["\\ufffe", "a\\uFFFF", "\\ufdd0", "\\uFDEFb", "\\ud83f\\udffe", "\\uDBFF\\uDFFF"],
    ...["\ufffe", "🚪\uffff", "\ufdd0", "\ufdef", "\u{1ffff}", "\u{10fffe}"],
  ];

  test("refuses half of a surrogate pair and noncharacters in any text or name, and tells where", () => {
    const part = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom("a", "🚪", "__proto__"));
    const path = fc.array(part, { maxLength: 5 });
    fc.assert(
      fc.property(path, fc.constantFrom(...HALVES, ...NONCHARACTERS), fc.boolean(), (parts, bad, isName) => {
        const text = parts.reduceRight<string>(
          (inner, each) =>
            typeof each === "number"
              ? `[${'"\\ud83d\\udeaa",'.repeat(each)}${inner}]`
              : `{"first":1,"${each}":${inner}}`,
          isName ? `{"b":"🚪","${bad}":1}` : `"${bad}"`,
        );
        const error = thrownBy(NotIJson, () => parseIJson(text));
        expect(error?.message).toBe("a text or a name has half of a surrogate pair or a noncharacter");
        expect(error?.path).toEqual(parts);
      }),
    );
  });

  test.each([
    ...wordsOf(`
      12345678901234567890 9007199254740993 -9007199254740993 1e400 -1e400 1e-400
      0.1000000000000000055511151231257827 3.14159265358979323846264338327950288 1.00000000000000000001
    `),
    `1${"0".repeat(400)}`,
  ])("refuses a number that a double cannot keep exactly: %s", (number) => {
    expect(() => parseIJson(`{"a":[${number}]}`)).toThrow(NotIJson);
  });

  test.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"\\"a\\":1,\\"a\\":2","c":"12345678901234567890"}',
    "[0,-0,0.0,0e9,1E30,4.50,2e-3,1e21,12345678901234567000,9007199254740992,5e-324,1.7976931348623157e308]",
    '{"\\ud83d\\udeaa":["🚪","\\uD83D\\uDEAA","\\\\ud800"]}',
    '{"\\ufffd\\ufdcf\\ufdf0":["\ufffd\ufdcf\ufdf0\u{1fffd}\ue000", "\\ud83f\\udffd", "\\\\ufffe"]}',
    '[[],{},"",null,true,false," {[,:]} "]',
    '{"A":1,"a":2,"\\u00e9":3,"e\\u0301":4}',
  ])("accepts %s", (text) => {
    expect(parseIJson(text)).toEqual(JSON.parse(text));
  });

  test("accepts exactly the whole numbers that a double keeps", () => {
    fc.assert(
      // JavaScript writes whole numbers below 10^21 without an exponent, so the texts can be compared.
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (number) => {
        const taken = () => parseIJson(String(number));
        if (String(Number(number)) === String(number)) expect(taken()).toBe(Number(number));
        else expect(taken).toThrow(NotIJson);
      }),
    );
  });

  test("refuses JSON that is malformed or nested too deeply", () => {
    for (const text of ["", "{", '{"a":1,}', "01", "{a:1}"])
      expect(() => parseIJson(text)).toThrow(SyntaxError);
    expect(() => parseIJson("[".repeat(100) + "]".repeat(100))).toThrow(JsonTooDeep);
    expect(() => parseIJson("[[[]]]", 2)).toThrow(JsonTooDeep);
  });
});
