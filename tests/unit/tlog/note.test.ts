import { describe, expect, test } from "bun:test";
import { tryUtf8 } from "@ostiary/lib/domain/json";
import {
  knownSignatures,
  LOG_SIGNATURE,
  type Note,
  type NoteKey,
  type NoteSigner,
  noteKeyId,
  noteKeyText,
  noteText,
  readNote,
  readNoteKey,
  readTreeHead,
  signNote,
  treeHeadText,
  WITNESS_COSIGNATURE,
} from "@ostiary/lib/domain/tlog";
import { testWitness } from "../../support/audit/test-log.ts";

/** The keys and the signed note in the documentation of Go's package golang.org/x/mod/sumdb/note. */
const PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const SIGNED = `${TEXT}
\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
\u2014 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=
`;

function keyOf(text: string): NoteKey {
  const key = readNoteKey(text);
  if (key === null) throw new Error(`no key: ${text}`);
  return key;
}

function noteOf(text: string): Note {
  const note = readNote(text);
  if (note === null) throw new Error(`no note: ${text}`);
  return note;
}

async function signerOf(name: string): Promise<NoteSigner> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error("The generated key is not a key pair.");
  const { publicKey, privateKey } = pair;
  return { name, privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)) };
}

const HEAD = treeHeadText({ origin: "log.example/a", size: 7, root: new Uint8Array(32), extensions: [] });

// AU-150
describe("a note", () => {
  test("that Go signed is verified, and is written as it was read", async () => {
    const note = noteOf(SIGNED);
    expect(note.text).toBe(TEXT);
    expect(noteText(note)).toBe(SIGNED);
    expect(await knownSignatures(note, [keyOf(PETER), keyOf(ENOCH)])).toEqual([
      { key: keyOf(PETER), isRight: true, timeS: null },
      { key: keyOf(ENOCH), isRight: true, timeS: null },
    ]);
    expect([PETER, ENOCH].map((text) => noteKeyText(keyOf(text)))).toEqual([PETER, ENOCH]);
  });

  test("never verifies after a change of any byte", async () => {
    const key = keyOf(PETER);
    const whole = new TextEncoder().encode(SIGNED.slice(0, SIGNED.indexOf("\u2014 EnochRoot")));
    for (let index = 0; index < whole.length; index++) {
      for (const change of [1, 0x80]) {
        const changed = whole.slice();
        changed[index] = (changed[index] ?? 0) ^ change;
        const note = readNote(tryUtf8(changed, "keep") ?? "");
        const found = note === null ? [] : await knownSignatures(note, [key]);
        expect([index, change, found.some(({ isRight }) => isRight)]).toEqual([index, change, false]);
      }
    }
  });

  test.each([
    ["no text", ""],
    ["a text without signatures", TEXT],
    ["an empty list of signatures", `${TEXT}\n`],
    ["a text without a blank line", SIGNED.replace("\n\n", "\n")],
    ["a missing line feed at the end", SIGNED.slice(0, -1)],
    ["another character in place of the last line feed", `${SIGNED.slice(0, -1)}x`],
    ["a carriage return", SIGNED.replaceAll("\n", "\r\n")],
    ["a NUL", SIGNED.replace("you", "\u0000")],
    ["a lone surrogate", SIGNED.replace("you", "\ud800")],
    ["a hyphen in place of the dash", SIGNED.replace("\u2014 Peter", "- Peter")],
    ["a name with a plus sign", SIGNED.replace("PeterNeumann", "Peter+Neumann")],
    ["a name with a space", SIGNED.replace("PeterNeumann", "Peter Neumann")],
    ["a name with a no-break space", SIGNED.replace("PeterNeumann", "Peter\u00a0Neumann")],
    ["an empty name", SIGNED.replace("PeterNeumann", "")],
    ["base64 without padding", SIGNED.replace("nAM=", "nAM")],
    ["base64 with nonzero unused bits", SIGNED.replace("nAM=", "nAN=")],
    ["base64url", SIGNED.replace("x08go/", "x08go_")],
    ["a signature that is only the id of the key", `${TEXT}\n\u2014 PeterNeumann x08gow==\n`],
    ["more than 100 signatures", `${TEXT}\n${`${SIGNED.split("\n").at(-2)}\n`.repeat(101)}`],
    ["more than a million characters", `${"a".repeat(1_000_000)}\n${SIGNED}`],
  ])("is refused with %s", (_what, text) => {
    expect(readNote(text)).toBeNull();
  });

  test("may have 100 signatures, an empty line in its text and letters of any script", async () => {
    const signer = await signerOf("журнал.example/ö");
    const text = "Ognuno sta solo\n\ned è subito sera.\n";
    const signature = await signNote(text, signer);
    const note = noteOf(noteText({ text, signatures: Array.from({ length: 100 }, () => signature) }));
    expect(note.text).toBe(text);
    const found = await knownSignatures(note, [{ ...signer, type: LOG_SIGNATURE }]);
    expect(found.map(({ isRight }) => isRight)).toEqual(Array.from({ length: 100 }, () => true));
  });

  test.each([
    ["one byte too few", new Uint8Array(71)],
    ["a time that no number holds", new Uint8Array(72).fill(0xff)],
  ])("has no time in a cosignature with %s, which is wrong", async (_what, signature) => {
    const key: NoteKey = { ...keyOf(PETER), name: "witness", type: WITNESS_COSIGNATURE };
    const note = { text: HEAD, signatures: [{ name: key.name, keyId: noteKeyId(key), signature }] };
    expect(await knownSignatures(note, [key])).toEqual([{ key, isRight: false, timeS: null }]);
  });

  test("ignores keys with only the same name or id, and reports a wrong signature of a known key", async () => {
    const note = noteOf(SIGNED);
    const peter = keyOf(PETER);
    expect(await knownSignatures(note, [{ ...peter, name: "Peter" }])).toEqual([]);
    expect(await knownSignatures(note, [{ ...peter, type: WITNESS_COSIGNATURE }])).toEqual([]);
    const other = noteOf(SIGNED.replace("problem is.", "problem was."));
    expect(await knownSignatures(other, [peter])).toEqual([{ key: peter, isRight: false, timeS: null }]);
  });

  test("is not verified with a key that is not a point of the curve", async () => {
    const signer = await signerOf("log.example/a");
    const publicKey = new Uint8Array(32).fill(0xff);
    const { signature } = await signNote(HEAD, signer);
    const broken: NoteKey = { name: "log.example/a", type: LOG_SIGNATURE, publicKey };
    const forged = readNoteKey(noteKeyText(broken));
    expect(forged).toEqual(broken);
    const keyId = noteKeyText(broken).split("+")[1] ?? "";
    const note = { text: HEAD, signatures: [{ name: "log.example/a", keyId, signature }] };
    expect(await knownSignatures(note, [broken])).toEqual([{ key: broken, isRight: false, timeS: null }]);
  });
});

// AU-150
describe("a cosignature", () => {
  test("is verified only with its own time, text and signature", async () => {
    const [log, witness] = [await signerOf("log.example/a"), testWitness("witness.example/w")];
    const signed = noteText({ text: HEAD, signatures: [await signNote(HEAD, log)] });
    const note = noteOf(signed + witness.line(HEAD, 1_679_315_147));
    const [, cosignature] = note.signatures;
    if (cosignature === undefined) throw new Error("The note has no cosignature.");
    const key = keyOf(witness.key);
    expect(key.type).toBe(WITNESS_COSIGNATURE);
    expect(await knownSignatures(note, [key])).toEqual([{ key, isRight: true, timeS: 1_679_315_147 }]);
    const wrong = async (signature: Uint8Array, text = HEAD) =>
      (await knownSignatures({ text, signatures: [{ ...cosignature, signature }] }, [key]))[0]?.isRight;
    for (let index = 0; index < cosignature.signature.length; index++) {
      const changed = cosignature.signature.slice();
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(await wrong(changed)).toBe(false);
    }
    expect(await wrong(cosignature.signature, HEAD.replace("7", "8"))).toBe(false);
    expect(await wrong(cosignature.signature.slice(8))).toBe(false);
    expect(await wrong(Uint8Array.of(...cosignature.signature, 0))).toBe(false);
  });
});

// AU-150
test.each([
  ["another id", PETER.replace("c74f20a3", "c74f20a4")],
  ["another name", PETER.replace("Peter", "Petra")],
  ["a name with a space", PETER.replace("PeterNeumann", "Peter Neumann")],
  ["another type of signature", PETER.replace("+ARpc", "+AxpC")],
  ["a key that is too short", "PeterNeumann+c74f20a3+ARpc2QcU"],
  ["a key that is not base64", PETER.replace("ARpc", "A-pc")],
  ["no text", ""],
])("a key with %s is refused", (_what, text) => {
  expect(readNoteKey(text)).toBeNull();
});

// AU-150
describe("a tree head", () => {
  const root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";

  test("is parsed as C2SP defines it, with extension lines", () => {
    const text = `example.com/behind-the-sofa\n20852163\n${root}\n`;
    const head = readTreeHead(text);
    expect(head).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20_852_163, extensions: [] });
    expect(head && treeHeadText(head)).toBe(text);
    expect(readTreeHead(`${text}more\n`)?.extensions).toEqual(["more"]);
    expect(readTreeHead(`a\n0\n${root}\n`)?.size).toBe(0);
  });

  test.each([
    ["no origin", `\n1\n${root}\n`],
    ["no root", "a\n1\n"],
    ["a size with a leading zero", `a\n01\n${root}\n`],
    ["a size with a sign", `a\n+1\n${root}\n`],
    ["a size below zero", `a\n-1\n${root}\n`],
    ["a size with an exponent", `a\n1e3\n${root}\n`],
    ["a size above the safe integers", `a\n9007199254740993\n${root}\n`],
    ["an empty size", `a\n\n${root}\n`],
    ["a root that is too short", `a\n1\n${root.slice(4)}\n`],
    ["a root that is not base64", `a\n1\n${root.replace("C", "-")}\n`],
    ["an empty line", `a\n1\n${root}\n\n`],
    ["no line feed at its end", `a\n1\n${root}`],
  ])("is refused with %s", (_what, text) => {
    expect(readTreeHead(text)).toBeNull();
  });
});
