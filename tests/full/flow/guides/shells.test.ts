/** Tests that commands of the guides leave the shell unchanged when a person pastes them. */
import { beforeAll, expect, test } from "bun:test";
import { blocksOf, documents } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";

let reader: Reader;
beforeAll(async () => {
  reader = await Reader.open();
});

/** Code blocks that set a `umask`, which must not stay in force for later commands in the same shell. */
const privateBlocks = (
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

test("the guides have code blocks that create secrets with a umask", () => {
  expect(privateBlocks.length).toBeGreaterThanOrEqual(3);
});

test.each(privateBlocks)(
  "%s, %s: creates files that no other user can read, and leaves the umask as it was",
  async (_document, _heading, text) => {
    // The commands use a folder of this test in place of a system folder, and no cluster or database.
    const here = text.replaceAll("/etc/ostiary/credentials", "credentials");
    const stubs = `kubectl() { :; }
docker() { :; }
cd() { :; }
install() { :; }
sed() { :; }
pg_dump() { touch secrets/dump; }
pg_dumpall() { touch secrets/roles; }
OWNER_URL=owner SERVER_URL=server
mkdir -p credentials secrets
(umask 077 && echo url > credentials/database-url && touch ostiary.dump)
`;
    const after = 'echo "umask $(umask)"; find credentials secrets -type f -perm /077';
    expect(await reader.run(`umask 022\n${stubs}${here}\n${after}`)).toEndWith("umask 0022\n");
  },
);
