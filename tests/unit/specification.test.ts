import { describe, expect, test } from "bun:test";
import {
  citationsIn,
  citationsWithoutNumber,
  filesOf,
  proofsIn,
  readProofs,
  strayClaims,
  textOf,
} from "../specification/citations.ts";
import { clausesIn, numberProblems, readClauses } from "../specification/clauses.ts";
import {
  paramProblems,
  proseOfComments,
  proseOfMarkdown,
  proseOfMessages,
  proseProblems,
} from "../specification/prose.ts";
import { reviewOnly } from "../specification/review-only.ts";

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));
const proofs = await readProofs();

/** A clause number that does not exist. It is joined from two parts, because lint refuses unknown numbers. */
const UNKNOWN = ["GW", "9999"].join("-");

describe("the specification", () => {
  test("has a test for each clause, or a reason why only a review can check it", () => {
    const proven = new Set([...proofs.map(({ id }) => id), ...Object.keys(reviewOnly)]);
    expect([...ids].filter((id) => !proven.has(id))).toEqual([]);
  });

  test("leaves to review only clauses that exist and that no test proves", () => {
    const proven = new Set(proofs.map(({ id }) => id));
    expect(Object.keys(reviewOnly).filter((id) => !ids.has(id) || proven.has(id))).toEqual([]);
  });

  test("is claimed only directly above tests, with numbers that exist", async () => {
    const files = filesOf("tests").filter((path) => path.endsWith(".ts"));
    const byFile = Map.groupBy(proofs, ({ path }) => path);
    const stray = await Promise.all(
      files.map(async (path) => strayClaims(path, await textOf(path), byFile.get(path) ?? [])),
    );
    expect(stray.flat()).toEqual([]);
    expect(proofs.filter(({ id }) => !ids.has(id))).toEqual([]);
  });
});

describe("a clause", () => {
  const read = (text: string) => clausesIn(".github/specification/gateway.md", text);

  test("is a paragraph that starts with its number in bold", () => {
    const text = "# Gateway\n\n**GW-1** One rule,\nin two lines.\n\n**Not one.**\n\n**GW-2** Another.\n";
    expect(read(text).map(({ id, text, line }) => [id, text, line])).toEqual([
      ["GW-1", "One rule, in two lines.", 3],
      ["GW-2", "Another.", 8],
    ]);
  });

  test("has a unique number, with the prefix of its file", () => {
    expect(numberProblems(read("**GW-1** A.\n\n**GW-1** B.\n\n**ID-1** C.\n"))).toEqual([
      ".github/specification/gateway.md:3 GW-1 is the number of an earlier clause",
      ".github/specification/gateway.md:5 ID-1 has the prefix of another file",
    ]);
  });
});

describe("a citation", () => {
  test("is found anywhere in a line", () => {
    const found = citationsIn("a.ts", `/** Counts (GW-3). */\nlet a; // ${UNKNOWN}, and SHA-256 or XGW-1\n`);
    expect(found).toEqual([
      { id: "GW-3", path: "a.ts", line: 1 },
      { id: UNKNOWN, path: "a.ts", line: 2 },
    ]);
  });

  test("without the number of a clause is reported", () => {
    const words = ["contract", "4"].join(" ");
    expect(citationsWithoutNumber("a.ts", `// Counts (GW-3).\n// Counts (${words}, Limits).\n`)).toEqual([
      `a.ts:2 "${words}": cite the number of a clause`,
    ]);
  });

  test("in a comment of numbers alone, directly above a test, is a proof", () => {
    const text = [
      'describe("a limit", () => {',
      "  // GW-3, GW-4",
      '  test.each([1])("holds for %i", () => {});',
      "  // GW-5 is told elsewhere",
      '  test("is told", () => {});',
      "});",
      "// GW-6",
      "const a = 1;",
    ].join("\n");
    expect(proofsIn("a.test.ts", text).map(({ id, line, test }) => [id, line, test])).toEqual([
      ["GW-3", 3, "holds for %i"],
      ["GW-4", 3, "holds for %i"],
    ]);
    expect(strayClaims("a.test.ts", text, proofsIn("a.test.ts", text))).toEqual([
      "a.test.ts:7 GW-6 is not directly above a test",
    ]);
  });
});

describe("prose", () => {
  test.each([
    ["A client can not write.", '"can not": write `cannot`'],
    ["Whoever writes waits.", '"Whoever": name the person or thing'],
    ["Of those one is served.", "a sentence without a subject"],
  ])("%s is refused", (text, problem) => {
    expect(proseProblems("a.md", [{ text, line: 7 }])).toEqual([`a.md:7 ${problem}: ${text}`]);
  });

  test.each([
    ["The gateway answers 404. It logs one line: the path is in it."],
    ["A key of `a` and `b c d` is [one link](https://a.example/x?y=z) to a page."],
  ])("%s is accepted", (text) => {
    expect(proseProblems("a.md", [{ text, line: 1 }])).toEqual([]);
  });

  test("is read from paragraphs, lists and tables of Markdown, and not from code and headings", () => {
    const text = "# Head\n\n**GW-1** One.\nTwo.\n\n```sh\ncan not\n```\n\n- three\n- four\n\n| A | five |\n";
    expect(proseOfMarkdown(text).map(({ text, line }) => [text, line])).toEqual([
      ["One.\nTwo.", 3],
      ["three", 10],
      ["four", 11],
      ["A", 13],
      ["five", 13],
    ]);
  });

  test("is read from comments of TypeScript, and not from numbers of clauses", () => {
    const text =
      "/** One {@link two}. */\nconst a = 1;\n// three\n// four\n// GW-1\ntest();\n/*\n * five\n */\n";
    expect(proseOfComments("a.ts", text).map(({ text }) => text.replaceAll(/\s+/g, " "))).toEqual([
      "One `two`.",
      "three four",
      "five",
    ]);
  });

  test.each([
    ["a glob in a string", 'glob("apps/*/tables.ts");\n/** one */\n'],
    ["a glob in a template", "glob(`apps/*/tables.ts`);\n/* one */\n"],
    ["a regular expression", "text.match(/apps\\/*/);\n/* one */\n"],
    ["a string with a comment in it", 'read("/** two */", "// three");\n// one\n'],
    ["code on the same line", "read(); // one\n"],
  ])("is read from a comment of TypeScript after %s", (_, code) => {
    expect(proseOfComments("a.ts", code).map(({ text }) => text.trim())).toEqual(["one"]);
  });

  test("is read from comments of YAML and SQL, and not from commands in them", () => {
    const yaml = "#!/bin/sh\n# one\n#\n#   run it\na: 1 # two\nb: http://x/#c\n";
    expect(proseOfComments("a.yaml", yaml).map(({ text, line }) => [text.trim(), line])).toEqual([
      ["one", 2],
      ["two", 5],
    ]);
    expect(proseOfComments("a.sql", "-- one\nselect 1 -- two\n")).toEqual([{ text: "one", line: 1 }]);
  });

  test("refuses a @param whose name is not in the code directly below", () => {
    const code =
      "/**\n * Adds.\n * @param a one\n * @param c two\n */\nfunction f(a: B) {}\n\nconst c = 1;\n";
    expect(paramProblems("a.ts", code)).toEqual(["a.ts:1 @param c is not a parameter"]);
    expect(paramProblems("a.ts", `const text = ${JSON.stringify(code)};`)).toEqual([]);
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the texts are the source of templates
  test("is read from strings of five words and more in TypeScript", () => {
    const code = [
      'a({ description: "One is a whole sentence.", name: "no" });',
      "/* it's */ log.warn({}, 'two of \\'them\\' were left out');",
      'b(/["`]/.test(c) ? `Three are in ${d(`four of ${e} are within it`)} or',
      "    in \\`five\\` lines.` : f);",
    ].join("\n");
    expect(proseOfMessages("a.ts", code)).toEqual([
      { text: "One is a whole sentence.", line: 1 },
      { text: "two of 'them' were left out", line: 2 },
      { text: "four of value are within it", line: 3 },
      { text: "Three are in value or\n    in `five` lines.", line: 3 },
    ]);
  });

  test("is read from texts between JSX tags", () => {
    const page =
      "const a = (b: C): D => (\n  <p>\n    It isn't <b>one</b> string, but a text with {b}.\n  </p>\n);";
    expect(proseOfMessages("a.tsx", page).map(({ text }) => text)).toEqual([" string, but a text with "]);
  });

  test.each([
    ["SQL", "query<A>(database, 'select')`select the names of all members ${b} here`"],
    ["code", '"const response = await fetch(url, { method, headers }); return response"'],
    ["styles", '"main { color: red; margin: 0 } a:hover { color: var(--ink) }"'],
  ])("is not read from %s", (_, code) => {
    expect(proseOfMessages("a.ts", code)).toEqual([]);
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the texts are the source of templates
});
