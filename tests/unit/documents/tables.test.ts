/** Checks Markdown tables. A blank line ends a table, and GitHub shows the rows after it as text. */
import { expect, test } from "bun:test";
import { documents, tokensOf } from "../../support/documents/documents.ts";

test("no blank line cuts a table", async () => {
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
