/**
 * Checks that texts for customers stand alone: descriptions of APIs, pages and errors name no file of the repository.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { textsIn } from "../../support/documents/source-code.ts";
import { ROOT } from "../../support/root.ts";

const POINTS_INTO_THE_REPOSITORY = /\b[\w-]+\.md\b|\.github\/|repository of Ostiary/;

/** The programs that operators alone use: their messages may name a file. */
const FOR_OPERATORS = /^apps\/(?:cli|platform|demo)\/|^lib\/runtime\/config\//;

test("no text of an API, a page or an error points into the repository", async () => {
  const all = await Array.fromAsync(new Bun.Glob("{apps,lib}/**/*.{ts,tsx}").scan({ cwd: ROOT }));
  const files = all.filter((file) => !file.includes("node_modules") && !FOR_OPERATORS.test(file));
  expect(files.length).toBeGreaterThan(200);
  const found = await Promise.all(
    files.map(async (file) => {
      const { strings } = textsIn(file, await Bun.file(join(ROOT, file)).text());
      return strings
        .filter(({ text }) => POINTS_INTO_THE_REPOSITORY.test(text))
        .map(({ text }) => `${file}: ${text}`);
    }),
  );
  expect(found.flat()).toEqual([]);
});
