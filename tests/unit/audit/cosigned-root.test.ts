/** Tests of `checkCosignedRoot`, which finds the witnesses that cosigned a signed root. */
import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { checkCosignedRoot, NotWitnessKeys, readWitnessKeys } from "@ostiary/lib/verification";
import { TestLog, testWitness } from "../../support/audit/test-log.ts";
import { rejection } from "../../support/rejection.ts";

const NOW_S = 1_800_000_000;

function witness(name: string, privateKey?: KeyObject) {
  const { key, line } = testWitness(name, privateKey);
  return { key, line: (text: string, timeS = NOW_S) => line(text, timeS) };
}

const log = new TestLog("audit.example.com/log").grow(7);
const [a, b, c] = [witness("a.example.com"), witness("b.example.com"), witness("c.example.com")];
const keys = readWitnessKeys(`# trusted witnesses\n\n${[a, b, c].map(({ key }) => `${key}\n`).join("")}`);
const check = (note: string, quorum = 2) => checkCosignedRoot(note, keys, { quorum, nowMs: NOW_S * 1_000 });

async function names(note: string): Promise<string[]> {
  const found = await check(note);
  return (found?.witnesses ?? []).flatMap(({ name, cosigned_at }) => (cosigned_at === null ? [] : [name]));
}

describe("a signed root", () => {
  const note = `${log.note()}${a.line(log.text())}${b.line(log.text(), NOW_S - 60)}`;

  // AU-175
  test("shows each witness with the time of its cosignature", async () => {
    expect(await check(note)).toEqual({
      origin: log.origin,
      size: 7,
      root: log.root(),
      quorum: 2,
      witnesses: [
        { name: "a.example.com", cosigned_at: "2027-01-15T08:00:00.000Z" },
        { name: "b.example.com", cosigned_at: "2027-01-15T07:59:00.000Z" },
        { name: "c.example.com", cosigned_at: null },
      ],
      is_witnessed: true,
    });
    expect((await check(note, 3))?.is_witnessed).toBe(false);
  });

  // AU-175
  test("counts a witness once, with its newest time, and ignores unknown witnesses", async () => {
    const stranger = witness("stranger.example.com").line(log.text());
    const twice = `${log.note()}${a.line(log.text(), NOW_S - 5)}${stranger}${a.line(log.text())}`;
    const found = await check(twice);
    expect(found?.is_witnessed).toBe(false);
    expect(found?.witnesses[0]?.cosigned_at).toBe("2027-01-15T08:00:00.000Z");
  });

  // AU-175
  test("does not accept the cosignatures of another root: of a rolled back, forked or rewritten log", async () => {
    const lines = a.line(log.text()) + b.line(log.text());
    const forked = log.forkAt(5).grow(2);
    for (const other of [forked.note(), log.note(log.text(6)), log.note(`${log.text()}an extension\n`)]) {
      expect(await names(other + lines)).toEqual([]);
    }
  });

  // AU-175
  test("does not count a cosignature with another name, changed bytes or a time over an hour ahead", async () => {
    const line = a.line(log.text());
    const bytes = Buffer.from(line.split(" ")[2] ?? "", "base64");
    const changed = [...bytes.keys()].map((at) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt8((copy.readUInt8(at) + 1) % 256, at);
      return `— a.example.com ${copy.toString("base64")}\n`;
    });
    const wrong = [
      ...changed,
      line.replace("a.example.com", "b.example.com"),
      a.line(log.text(), NOW_S + 3_601),
      log.signature(log.text(), "a.example.com"),
    ];
    for (const each of wrong) expect(await names(log.note() + each)).toEqual([]);
    expect(await names(log.note() + a.line(log.text(), NOW_S + 3_600))).toEqual(["a.example.com"]);
  });

  // AU-175
  test("must be a note with a tree head", async () => {
    const texts = ["", "{}", log.text(), note.slice(0, -1), note.replace("\n7\n", "\n07\n"), `${note}\n`];
    for (const text of texts) expect(await check(text)).toBeNull();
  });
});

describe("the keys of witnesses", () => {
  // AU-175
  test.each([
    ["", 0],
    ["# none\n", 0],
    [`${a.key}\nx\n`, 2],
    [`${log.verifier_key}\n`, 1],
    [`${a.key}\n${a.key}\n`, 2],
    [`${a.key}A\n`, 1],
    [Array.from({ length: 101 }, (_, n) => `${witness(`w${n}`).key}\n`).join(""), 0],
  ])("are refused with the number of the wrong line, or 0 for the whole file", async (text, line) => {
    const error = await rejection(Promise.try(() => readWitnessKeys(text)));
    expect(error).toBeInstanceOf(NotWitnessKeys);
    expect(error).toHaveProperty("line", line);
  });

  // AU-175
  test("are refused when one key has two names", () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const text = `${witness("one", privateKey).key}\n${witness("two", privateKey).key}\n`;
    expect(() => readWitnessKeys(text)).toThrow("has the key of an earlier line");
  });
});
