/** Tests of the portal's configured witnesses: the key file, the quorum and the origin. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkWitnesses, loadWitnesses } from "@ostiary/portal/witnesses";
import { commandOf } from "../../../apps/portal/page/audit/logs.ts";
import { KEY, twoDays } from "../../support/audit/proof-exports.ts";
import { logKeyText, ORIGIN, OWNER } from "../../support/audit/proof-log.ts";
import { testWitness } from "../../support/audit/test-log.ts";
import { verify } from "../../support/audit/verify-lines.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("witness-keys");

const [one, two] = [testWitness("one.example.com").key, testWitness("two.example.com").key];

function keysFile(...lines: string[]): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

// PT-71
describe("the witnesses of the portal", () => {
  test("are those of the key file, and by default all of them must cosign", () => {
    const PORTAL_WITNESS_KEYS_FILE = keysFile("# trusted witnesses", "", one, `  ${two}\r`);
    const all = { PORTAL_WITNESS_KEYS_FILE };
    expect(checkWitnesses(all)).toEqual([]);
    expect(loadWitnesses(all)).toEqual({ keys: [one, two], quorum: 2, origin: null });
    const some = { ...all, PORTAL_WITNESS_QUORUM: 1, PORTAL_WITNESS_ORIGIN: "audit.example.com/log" };
    expect(checkWitnesses(some)).toEqual([]);
    expect(loadWitnesses(some)).toEqual({ keys: [one, two], quorum: 1, origin: "audit.example.com/log" });
  });

  test.each([
    ["no key", ["# none"], "has no key of a witness."],
    ["a text in place of a key", [one, "witness.example.com"], "line 2 is not a key of a witness."],
    ["a key of a log", [logKeyText(KEY)], "line 1 is not a key of a witness."],
    [
      "a key with another id",
      [one.replace(/\+[0-9a-f]{8}\+/, "+00000000+")],
      "line 1 is not a key of a witness.",
    ],
    ["a key twice", [one, two, one], "line 3 has the key of an earlier line."],
    [
      "101 keys",
      Array.from({ length: 101 }, (_, n) => testWitness(`w${n}.example.com`).key),
      "has more than 100 keys.",
    ],
  ])("are refused for a file with %s", (_what, lines, message) => {
    expect(checkWitnesses({ PORTAL_WITNESS_KEYS_FILE: keysFile(...lines) })).toEqual([
      { variable: "PORTAL_WITNESS_KEYS_FILE", message },
    ]);
  });

  test("are refused for a file that is missing, a folder, and a path through a file", () => {
    const missing = join(folder, "none");
    const through = join(keysFile(one), "keys");
    expect(
      [missing, folder, through].flatMap((path) => checkWitnesses({ PORTAL_WITNESS_KEYS_FILE: path })),
    ).toEqual(
      [
        `names ${missing}, which cannot be read.`,
        `names ${folder}, which cannot be read.`,
        `names ${through}, which cannot be read.`,
      ].map((message) => ({ variable: "PORTAL_WITNESS_KEYS_FILE", message })),
    );
  });

  test("are refused for a quorum above their number, and for a quorum or an origin without keys", () => {
    const PORTAL_WITNESS_KEYS_FILE = keysFile(one, two);
    expect(checkWitnesses({ PORTAL_WITNESS_KEYS_FILE, PORTAL_WITNESS_QUORUM: 2 })).toEqual([]);
    expect(checkWitnesses({ PORTAL_WITNESS_KEYS_FILE, PORTAL_WITNESS_QUORUM: 3 })).toEqual([
      {
        variable: "PORTAL_WITNESS_QUORUM",
        message: "is 3, but PORTAL_WITNESS_KEYS_FILE has 2 keys: lower the quorum, or add keys.",
      },
    ]);
    const message = "needs PORTAL_WITNESS_KEYS_FILE, the file with the keys of the witnesses.";
    expect(checkWitnesses({ PORTAL_WITNESS_QUORUM: 1, PORTAL_WITNESS_ORIGIN: "log.example.com" })).toEqual([
      { variable: "PORTAL_WITNESS_QUORUM", message },
      { variable: "PORTAL_WITNESS_ORIGIN", message },
    ]);
  });
});

// PT-73
test("an export of a log with another name than the configured origin is undecided", async () => {
  const lines = await twoDays().export(OWNER);
  for (const [origin, result] of [
    [null, "complete"],
    [ORIGIN, "complete"],
    ["audit.example.com/lo", "undecided"],
  ] as const) {
    const verdict = await verify(lines, { origin });
    expect([verdict.result, verdict.findings.map(({ code }) => code)]).toEqual([
      result,
      result === "complete" ? [] : ["root_of_other_log"],
    ]);
  }
});

// PT-72
describe("the same verification on the command line", () => {
  const log = "/org/audit-events";
  const gateway = "https://api.example.com";

  test("names the owner, the witnesses and the quorum, quoted for the shell", async () => {
    const keys = [one, testWitness("it's;$(id)`id`.example.com").key];
    const command = commandOf(log, "organization:o's", { keys, quorum: 2, origin: null }, gateway);
    const [, , write = "", verifying = ""] = command.split("\n");
    expect(verifying).toBe(
      `ostiary audit verify log.ndjson --owner 'organization:o'\\''s' --witness-keys witnesses.txt --quorum 2`,
    );
    const written = Bun.spawn(["sh", "-c", write], { cwd: folder });
    expect(await written.exited).toBe(0);
    expect(await Bun.file(join(folder, "witnesses.txt")).text()).toBe(keys.map((key) => `${key}\n`).join(""));
  });

  test("has no options for witnesses if the portal has no witnesses", () => {
    expect(commandOf(log, OWNER, null, gateway)).toEndWith(
      "> log.ndjson\nostiary audit verify log.ndjson --owner 'organization:acme'",
    );
  });
});
