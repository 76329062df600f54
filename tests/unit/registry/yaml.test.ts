import { describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { parseYaml } from "@ostiary/lib/runtime/documents";
import fc from "fast-check";
import { stringify } from "yaml";
import { runs } from "../../support/runs.ts";
import { thrownBy } from "../../support/thrown.ts";

/** Matches the unprintable characters in the test cases. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the tests look for control characters
const UNPRINTABLE = /[\0\x07\x1b\x7f\x80\ufffe\ufeff\r]/;

function codePoint(text: string): string {
  const [found = ""] = UNPRINTABLE.exec(text) ?? [];
  return found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** Returns the message of the 422 for `text`. */
function refusal(text: string): string {
  const error = thrownBy(ApiError, () => parseYaml(text));
  if (error?.code !== "VALIDATION_ERROR")
    throw new Error(`The text was not refused as invalid YAML: ${error}`);
  return error.message;
}

describe("YAML that operators write", () => {
  // RG-38
  test.each([
    [
      "a: 1\nb: [x, 'y', \"z\"]\nc: {d: true, e: null, f: ~, g: }",
      { a: 1, b: ["x", "y", "z"], c: { d: true, e: null, f: null, g: null } },
    ],
    ['{"a": {"b": [1, 2.5, null, false, "x"]}}', { a: { b: [1, 2.5, null, false, "x"] } }],
    ["---\na: 1\n...\n", { a: 1 }],
    ["%YAML 1.2\n---\na: 1", { a: 1 }],
    ["# comment\na: |\n  two\n  lines\n", { a: "two\nlines\n" }],
    ["a: &x {b: 1}\nc: *x", { a: { b: 1 }, c: { b: 1 } }],
    ["a: !!str 5", { a: "5" }],
    ["\ufeffa: 1", { a: 1 }],
    ["yes: no\non: off", { yes: "no", on: "off" }],
    ["1e3: a\nnull: b\n007: c", { "1e3": "a", null: "b", "007": "c" }],
    ["<<: {a: 1}", { "<<": { a: 1 } }],
    ["%YAML 1.1\n---\na: yes\nb: 2020-01-01", { a: "yes", b: "2020-01-01" }],
    ["%YAML \t 1.3 # read as 1.2\n# comment\n---\na: 1\n...\n# comment\n", { a: 1 }],
    ["a: &unused 1\r\nb:\t2\t# tabs\r\n", { a: 1, b: 2 }],
    ["a: &x 1\nb: &x 2\nc: *x", { a: 1, b: 2, c: 2 }],
    ['a: "\\0\\a\\x7f\\uFEFF"', { a: "\0\x07\x7f\ufeff" }],
    ["a: größer\u0085 \u2028 \u{1f600} \u{10ffff}", { a: "größer\u0085 \u2028 \u{1f600} \u{10ffff}" }],
  ])("%j is parsed", (text, value) => {
    expect(parseYaml(text)).toEqual(value);
  });

  test("may have __proto__ as a normal key", () => {
    const value = parseYaml("__proto__: {polluted: 1}\nconstructor: 2\ntoString: 3");
    expect(Object.keys(Object(value))).toEqual(["__proto__", "constructor", "toString"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object(value).polluted).toBeUndefined();
  });

  test("is parsed into the value that it was written from", () => {
    const name = fc.string({ minLength: 1, maxLength: 10 }).filter((text) => text !== "__proto__");
    const document = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(name, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(name, document, { minKeys: 1, maxKeys: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(parseYaml(stringify(plain, { aliasDuplicateObjects: false }))).toEqual(plain);
        expect(parseYaml(JSON.stringify(plain))).toEqual(plain);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("YAML is refused when it", () => {
  const TAG = "The custom tag at line 1, column 4 is not accepted.";
  const DIRECTIVE = "The directive at line 1, column 1 is not accepted: only %YAML is.";
  const SEVERAL = "The body holds several YAML documents: keep one.";
  const invalid = (line: number, column: number, why: string) =>
    `The YAML is not valid at line ${line}, column ${column}: ${why}.`;
  const unexpected = "the text here is unexpected; a quote, a comma, a colon or a line break may be missing";
  const unclosed =
    "a bracket, brace or quote above is not closed, or this line is indented less than the key that it belongs to";

  // RG-36, RG-38
  test.each([
    ["a: 1\nb: 2\na: 3", "The key at line 3, column 1 occurs twice in one map."],
    ["{x: {a: 1, 'a': 2}}", "The key at line 1, column 12 occurs twice in one map."],
    ["__proto__: 1\n__proto__: 2", "The key at line 2, column 1 occurs twice in one map."],
    ["a: !custom x", TAG],
    ["a: !!binary aGk=", TAG],
    ["%TAG ! tag:example.com,2000:\n---\na: !x 1", DIRECTIVE],
    ["%YAML 1.2\n%YAML 1.2\n---\na: 1", invalid(2, 1, "%YAML occurs twice")],
    ["%YAML 1.1\n# c\n%YAML 1.2\n---\na: 1", invalid(3, 1, "%YAML occurs twice")],
    ...[" 3.0", " 2.0", " 0.9", " 1", " 01.2", " 1.2.3", " 1.2 1.2", ""].map(
      (version) => [`%YAML${version}\n---\na: 1`, invalid(1, 1, "write %YAML 1.2")] as const,
    ),
    ["%YAML 1.2\na: 1", invalid(2, 1, "--- is missing after the directive")],
    ...["b\0", '"\x07"', "b\x1b[0m", "b\x7f", "b\x80", "b\ufffe", "\ufeffb", "1 # c\rd: 2"].map((value) => {
      const why = `write U+${codePoint(value)} as an escape in double quotes`;
      return [`a: ${value}`, invalid(1, 4 + value.search(UNPRINTABLE), why)] as const;
    }),
    ["a: 1\n---\nb: 2", SEVERAL],
    ["? [a]\n: 1", "The key at line 1, column 3 must be a string."],
    ["a: 'open", invalid(1, 9, "a quote is not closed")],
    ["a: b: c", invalid(1, 5, unexpected)],
    ["a:\n\t- b", invalid(2, 1, "indent with spaces, not with tabs")],
    ["]", invalid(1, 1, "the text here follows the end of the document")],
    ["a: [1\nb: 2", invalid(2, 1, unclosed)],
    ...["services: [\n", "a: {b: 1\nc: 2", 'a: "x\ny"'].map(
      (text) => [text, invalid(2, 1, unclosed)] as const,
    ),
    ...["a: |0\n b", "a: |12\n b"].map(
      (text, extra) =>
        [text, invalid(1, 5 + extra, "the indentation after | or > must be one digit from 1 to 9")] as const,
    ),
    ["a: ['x' y]", invalid(1, 9, "a comma is missing between two entries")],
    ["a: [,]", invalid(1, 5, "a value is missing in front of a comma")],
    ['a: "\\q"', invalid(1, 6, "an escape in double quotes is unknown")],
    ["a: &", invalid(1, 5, "an anchor or alias has no name")],
    ["a: !!int x", invalid(1, 4, "the value does not have the type of its tag")],
    [
      "a: *missing",
      "The alias *missing at line 1, column 4 has no anchor before it: write &name before the value that it repeats, or quote the text.",
    ],
    [
      "a: &a 1\nb: &a [*a]",
      "The alias *a at line 2, column 8 is inside the value that it repeats: remove the alias.",
    ],
  ])("is %j, and the message says what is wrong and where", (text, message) => {
    expect(refusal(text)).toBe(message);
  });

  // RG-39
  test("grows by its aliases by more than half of its size plus 64 KiB", () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(", ")}]`,
    );
    const billion = ["l0: &l0 [x, x, x, x, x, x, x, x, x]", ...levels].join("\n");
    const wide = (aliases: number) =>
      `a: &a [${Array(30_000).fill("x").join(", ")}]\nb: [${Array(aliases).fill("*a").join(", ")}]`;
    const long = `a: &a ${"x".repeat(10_000)}\nb: [${Array(7).fill("*a").join(", ")}]`;
    const keys = [
      `a: &a ${"x".repeat(10_000)}`,
      ...Array.from({ length: 7 }, (_, n) => `k${n}: { *a : 1 }`),
    ].join("\n");
    for (const [text, place] of [
      [billion, "line 5, column 25"],
      [wide(2), "line 2, column 9"],
      [long, "line 2, column 29"],
      [keys, "line 8, column 7"],
    ] as const) {
      expect(refusal(text)).toBe(
        `The aliases of the YAML expand to too many values at ${place}: write the values out.`,
      );
    }
    expect(parseYaml(wide(1))).toHaveProperty("b.0.length", 30_000);
  });

  test("is nested too deeply after its aliases are expanded", () => {
    const levels = Array.from({ length: 64 }, (_, n) => `l${n + 1}: &l${n + 1} [*l${n}]`);
    expect(refusal(["l0: &l0 x", ...levels].join("\n"))).toBe(
      "The YAML is nested more than 64 levels deep at line 65, column 12: flatten it.",
    );
    expect(parseYaml(["l0: &l0 x", ...levels.slice(0, 63)].join("\n"))).toBeObject();
  });

  // RG-37
  test("is nested 65 levels deep", () => {
    const forms: ((depth: number) => string)[] = [
      (depth) => "[".repeat(depth) + "]".repeat(depth),
      (depth) => `${"- ".repeat(depth)}x`,
      (depth) => `${"{a: ".repeat(depth)}1${"}".repeat(depth)}`,
      (depth) => Array.from({ length: depth }, (_, n) => `${" ".repeat(n)}a:`).join("\n"),
    ];
    for (const form of forms) {
      expect(parseYaml(form(64))).toBeObject();
      expect(refusal(form(65))).toStartWith("The YAML is nested more than 64 levels deep");
    }
    for (const form of forms.slice(0, 3)) {
      expect(refusal(form(1_000_000))).toStartWith("The YAML is nested more than 64 levels deep at line 1");
    }
  });

  test("breaks a rule, and no text causes another error", () => {
    const marks = ["<<", "!!", "---", "...", "*a", "&a "];
    const fragment = fc.constantFrom(..."{}[]:,-?&*!|>'\"%@`#\n\t <a1~.\\\u0000\u{1f600}", ...marks);
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 40 }), (fragments) => {
        thrownBy(ApiError, () => parseYaml(fragments.join("")));
      }),
      { numRuns: runs(300) },
    );
  });
});
