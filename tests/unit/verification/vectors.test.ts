import { describe, expect, test } from "bun:test";
import { givenOf, type TestExport } from "../../support/audit/proof-exports.ts";
import { verify } from "../../support/audit/verify-lines.ts";
import { type EditedExport, VECTORS, vectorsText, withEdits } from "./vectors.ts";

const text = await Bun.file(VECTORS).text();
const vectors: (TestExport | EditedExport)[] = text
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));
const good = new Map(
  vectors.flatMap((vector) => ("lines" in vector ? [[vector.title, vector] as const] : [])),
);

// AU-146
describe("the vectors", () => {
  test("are those that their script writes", async () => {
    expect(await vectorsText()).toBe(text);
  });

  test.each(vectors)("have the right verdict: $title", async (vector) => {
    const base = "lines" in vector ? vector : good.get(vector.of);
    if (base === undefined) throw new Error("The vector changes an export that is not in the file.");
    const [edits, given] = "lines" in vector ? [[], {}] : [vector.edits, vector.given];
    const verdict = await verify(withEdits(base.lines, edits), await givenOf({ ...base, ...given }));
    expect(verdict.result).toBe(vector.result);
  });
});
