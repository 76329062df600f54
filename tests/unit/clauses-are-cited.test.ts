import { describe, expect, test } from "bun:test";
import { readClauses } from "../specification/clauses.ts";
import { filesOf, readProofs, strayClaims, textOf } from "../specification/read-citations.ts";

const clauses = await readClauses();
const ids = new Set(clauses.map(({ id }) => id));
const proofs = await readProofs();

describe("the specification", () => {
  test("has a test for each clause", () => {
    const proven = new Set(proofs.map(({ id }) => id));
    expect([...ids].filter((id) => !proven.has(id))).toEqual([]);
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
