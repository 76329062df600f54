import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { blocksOf, documents } from "../../support/documents.ts";
import { Reader } from "../../support/guide-reader.ts";

/** The effects of the documents' commands on the shell of a person who pastes them. */

setDefaultTimeout(60_000);

let reader: Reader;
beforeAll(async () => {
  reader = await Reader.open();
});
afterAll(() => reader.close());

/** Blocks that set a `umask`, which the files of later blocks must not get. */
const private_blocks = (
  await Promise.all(
    (
      await documents()
    ).map(async (document) =>
      (
        await blocksOf(document)
      )
        .filter(({ language, text }) => language === "sh" && /\bumask\b/.test(text))
        .map(({ heading, text }) => [document, heading, text] as const),
    ),
  )
).flat();

test("blocks that make secrets are found", () => {
  expect(private_blocks.length).toBeGreaterThanOrEqual(3);
});

test.each(private_blocks)(
  "%s, %s: makes files that nobody else can read, and keeps the umask",
  async (_document, _heading, text) => {
    // System folders are folders of the reader here.
    const here = text.replaceAll("/etc/ostiary/credentials", "credentials");
    const stubs = "kubectl() { :; }\nmkdir -p credentials secrets\n";
    const after = 'echo "umask $(umask)"; find credentials secrets -type f -perm /077';
    expect(await reader.run(`umask 022\n${stubs}${here}\n${after}`)).toEndWith("umask 0022\n");
  },
);
