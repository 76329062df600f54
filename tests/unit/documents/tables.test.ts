import { expect, test } from "bun:test";
import { documents, tokensOf } from "../../support/documents.ts";

/**
 * Tables of the Markdown files, as GitHub shows them: a blank line ends a table, and later rows show as text.
 */

test("every row of a table belongs to its table", async () => {
  const strays = await Promise.all(
    (await documents()).map(async (document) => {
      const outside = (await tokensOf(document)).filter(
        ({ type, raw }) => type === "paragraph" && /^\|/m.test(raw),
      );
      return outside.map(({ raw }) => `${document}: ${raw.trim()}`);
    }),
  );
  expect(strays.flat()).toEqual([]);
});
