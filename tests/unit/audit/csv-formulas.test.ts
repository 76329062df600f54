import { expect, test } from "bun:test";
import fc from "fast-check";
import { exportChunks } from "../../../apps/audit/exports/formats.ts";

const form = { name: "cells", columns: ["cell", "other"], cells: (cells: string[]) => cells, shown: String };

async function csvOf(cells: string[]): Promise<string> {
  const rows = (async function* () {
    yield [cells];
  })();
  const chunks = await Array.fromAsync(exportChunks("csv", form, rows));
  return chunks.join("").slice("cell,other\n".length);
}

/**
 * Returns the first character of each cell after the first one, in a spreadsheet that splits the text at every
 * semicolon, tab and line end.
 */
const startsOf = (text: string) =>
  text
    .split(/[;\t\r\n]/)
    .slice(1)
    .map((cell) => cell.replace(/^"+/, "").slice(0, 1));

// AU-43, AU-115
test.each([
  ["a;=1+1", "a;'=1+1"],
  ["a; -1;+1\t@b", "a;' -1;'+1\t'@b"],
  ["Mozilla/5.0 (X11; Linux) a=b;c=d", "Mozilla/5.0 (X11; Linux) a=b;c=d"],
])("%j is %j in CSV, also for spreadsheets that split at semicolons", async (cell, shown) => {
  const quoted = /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
  expect(await csvOf([cell, "x"])).toBe(`${quoted},x\n`);
});

// AU-43, AU-115
test("no text begins a formula, wherever a spreadsheet splits the line", async () => {
  const cell = fc.string({ unit: fc.constantFrom(...";\t\n\r,\"' =+-@a\uff1d"), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(cell, cell, async (one, other) => {
      expect(startsOf(await csvOf([one, other])).join("")).not.toMatch(/[=+\-@\uff1d]/);
    }),
  );
});
