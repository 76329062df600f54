import { describe, expect, test } from "bun:test";
import { filesOf, proofsIn, readProofs, strayClaims, textOf } from "../specification/citations.ts";
import { readClauses } from "../specification/clauses.ts";
import { proseProblems } from "../specification/prose.ts";
import { reviewOnly } from "../specification/review-only.ts";

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));
const proofs = await readProofs();

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

describe("a citation", () => {
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
});
