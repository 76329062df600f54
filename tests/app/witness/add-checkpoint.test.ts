/** Tests that a witness implements add-checkpoint of the C2SP specification tlog-witness. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { duringTests } from "../../support/during-tests.ts";
import { submission, TestLog } from "../../support/test-log.ts";
import { cosignedAt, newWitness, startWitness } from "./witness-bed.ts";

setDefaultTimeout(60_000);

const SIZE_TYPE = "text/x.tlog.size";
/**
 * The logs that the witness knows. Each test uses new ones, so that no test depends on the heads of another.
 */
const logs = Array.from({ length: 600 }, (_, n) => new TestLog(`log.example.com/${n}`));
const unused = [...logs];

const files = await newWitness(logs);
const witness = duringTests(() => startWitness(files));

/** Returns an unused log that the witness knows, with `size` leaves. */
function log(size: number): TestLog {
  const next = unused.pop();
  if (next === undefined) throw new Error("Every log has been used: start the witness with more logs.");
  return next.grow(size);
}

async function cosigned(body: string, text: string): Promise<void> {
  const answer = await witness.add(body);
  expect(answer).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
  expect(answer.text).toEndWith("\n");
  const timeS = cosignedAt(answer.text.slice(0, -1), text, files.verifier_key);
  expect(Math.abs((timeS ?? 0) - Date.now() / 1_000)).toBeLessThan(600);
}

async function stateOf({ origin }: TestLog) {
  return (await files.state()).logs.find((each) => each.origin === origin);
}

describe("a checkpoint is cosigned", () => {
  // OP-80
  test("if it is the first one of its log, and if it continues the last one", async () => {
    const grown = log(5);
    await cosigned(grown.submission(0), grown.text());
    expect(await stateOf(grown)).toEqual({ origin: grown.origin, size: 5, root: grown.root() });
    grown.grow(8);
    await cosigned(grown.submission(5), grown.text());
    expect(await stateOf(grown)).toEqual({ origin: grown.origin, size: 13, root: grown.root() });
  });

  // OP-80
  test("if it is the last one again", async () => {
    const same = log(6);
    await cosigned(same.submission(0), same.text());
    await cosigned(same.submission(6), same.text());
  });

  // OP-80
  test("if its log is empty", async () => {
    const empty = log(0);
    await cosigned(empty.submission(0), empty.text());
    empty.grow(3);
    await cosigned(empty.submission(0), empty.text());
  });

  // OP-80
  test("if it has more signatures and extension lines", async () => {
    const extended = log(4);
    const text = `${extended.text()}an extension\n`;
    const other = new TestLog("other.example.com").signature(text);
    await cosigned(submission(0, [], `${text}\n${other}${extended.signature(text)}${other}`), text);
  });

  // OP-80
  test.each([1, 2, 3, 4, 7, 8, 9, 31, 32, 33])("if its log grew from size %i to 70", async (size) => {
    const grown = log(70);
    await cosigned(grown.submission(0, size), grown.text(size));
    await cosigned(grown.submission(size), grown.text());
  });
});

describe("a checkpoint is refused", () => {
  // OP-82
  test("with 409 and the cosigned size, if the old size is not the cosigned one", async () => {
    const grown = log(9);
    const unknown = { status: 409, type: SIZE_TYPE, text: "0\n" };
    expect(await witness.add(grown.submission(4))).toEqual(unknown);
    await cosigned(grown.submission(0, 7), grown.text(7));
    for (const old of [0, 4, 8]) {
      expect(await witness.add(grown.submission(old))).toEqual({ status: 409, type: SIZE_TYPE, text: "7\n" });
    }
    await cosigned(grown.submission(7), grown.text());
  });

  // OP-82
  test("with 409 if it has another root of the same size", async () => {
    const original = log(6);
    await cosigned(original.submission(0), original.text());
    const fork = original.forkAt(5).grow(1);
    expect(await witness.add(fork.submission(6))).toEqual({ status: 409, type: SIZE_TYPE, text: "6\n" });
    expect(await stateOf(original)).toMatchObject({ root: original.root() });
    const metrics = await (await witness.internal("/metrics")).text();
    expect(metrics).toMatch(/^witness_refusals_total\{reason="fork"\} [1-9]/m);
  });

  // OP-81
  test("with 422 if its log was forked, rolled back and grown, or rewritten", async () => {
    const original = log(12);
    await cosigned(original.submission(0), original.text());
    for (const keep of [0, 1, 8, 11]) {
      const fork = original.forkAt(keep).grow(20 - keep);
      expect((await witness.add(fork.submission(12))).status).toBe(422);
    }
    expect(await stateOf(original)).toMatchObject({ size: 12, root: original.root() });
  });

  // OP-81
  test("with 422 if a hash of the proof is missing, added, changed or moved", async () => {
    const grown = log(21);
    await cosigned(grown.submission(0, 13), grown.text(13));
    const right = grown.proof(13);
    const other = new TestLog("x").grow(1).root();
    const wrong = [
      ...right.map((_, at) => right.toSpliced(at, 1)),
      ...right.map((_, at) => right.toSpliced(at, 0, other)),
      ...right.map((_, at) => right.with(at, other)),
      right.toReversed(),
      [],
      Array.from({ length: 63 }, () => other),
    ];
    for (const proof of wrong) {
      expect((await witness.add(submission(13, proof, grown.note()))).status).toBe(422);
    }
    expect((await witness.add(submission(13, right, grown.note()))).status).toBe(200);
    expect((await witness.add(submission(21, [other], grown.note()))).status).toBe(409);
  });

  // OP-81
  test("if it has a wrong root of an empty tree, or a proof from size 0", async () => {
    const empty = log(3);
    const text = empty.text(0, empty.root());
    expect(await witness.add(submission(0, [], empty.note(text)))).toMatchObject({
      status: 409,
      text: "0\n",
    });
    expect((await witness.add(submission(0, [empty.root()], empty.note()))).status).toBe(422);
  });

  // OP-81
  test("with 404 if the witness does not know its origin", async () => {
    const stranger = new TestLog("stranger.example.com").grow(2);
    expect((await witness.add(stranger.submission(0))).status).toBe(404);
  });

  // OP-81
  test("with 403 if no key of its log has signed it", async () => {
    const known = log(2);
    const text = known.text();
    const thief = new TestLog(known.origin, generateKeyPairSync("ed25519").privateKey);
    const own = known.signature(text);
    const broken = own.replace(
      /(.)(.{8}\n)$/,
      (_, digit: string, rest: string) => (digit === "A" ? "B" : "A") + rest,
    );
    const signatures = [
      thief.signature(text),
      known.signature(known.text(1)),
      known.signature(text, "other.example.com"),
      broken,
    ];
    for (const signature of signatures) {
      expect((await witness.add(submission(0, [], `${text}\n${signature}`))).status).toBe(403);
    }
    expect(await stateOf(known)).toBeUndefined();
  });

  // OP-81
  test("with 400 if the body or the checkpoint cannot be parsed", async () => {
    const known = log(4);
    const [text, note, root] = [known.text(), known.note(), known.root()];
    const signed = (head: string) => submission(0, [], known.note(head));
    const bodies = [
      "",
      "old 0",
      "old 0\n",
      "old 0\n\n",
      `old 0\n${note}`,
      ...[
        "-1",
        "00",
        "01",
        "+0",
        " 0",
        "0 ",
        "1e3",
        "0x1",
        "",
        "9007199254740993",
        "99999999999999999999",
      ].map((old) => submission(old, [], note)),
      `new 0\n\n${note}`,
      `OLD 0\n\n${note}`,
      `old 0\r\n\r\n${note}`,
      submission(0, ["not base64"], note),
      submission(0, [root.slice(0, -1)], note),
      submission(0, [`${root.slice(0, -2)}9=`], note),
      submission(0, [Buffer.alloc(31).toString("base64")], note),
      submission(0, [Buffer.alloc(33).toString("base64")], note),
      submission(0, [` ${root}`], note),
      submission(
        0,
        Array.from({ length: 64 }, () => root),
        note,
      ),
      submission(5, [], note),
      submission(0, [], text),
      submission(0, [], `${text}\n`),
      submission(0, [], note.slice(0, -1)),
      submission(0, [], note.replace("—", "-")),
      submission(0, [], `${note}\n`),
      submission(0, [], note.replace("\n", "\u0000\n")),
      signed(`${known.origin}\n4\n`),
      signed(`${known.origin}\n04\n${root}\n`),
      signed(`${known.origin}\n-4\n${root}\n`),
      signed(`${known.origin}\n9007199254740993\n${root}\n`),
      signed(`${known.origin}\n4\n${root.slice(0, 20)}\n`),
      signed(`\n4\n${root}\n`),
    ];
    for (const body of bodies) {
      const answer = await witness.add(body);
      expect(`${answer.status} ${JSON.stringify(body.slice(0, 60))}`).toStartWith("400 ");
    }
    expect((await witness.add(Buffer.from([0x6f, 0xff, 0xfe]))).status).toBe(400);
    expect(await stateOf(known)).toBeUndefined();
  });

  // OP-81
  test("with 413 if the body is over 64 KiB, with or without a Content-Length", async () => {
    const known = log(1);
    const long = submission(0, [], known.note(`${known.text()}${"x".repeat(66_000)}\n`));
    expect((await witness.add(long)).status).toBe(413);
    const chunks = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 70; n++) controller.enqueue(new Uint8Array(1_000).fill(120));
        controller.close();
      },
    });
    expect((await witness.add(chunks)).status).toBe(413);
  });

  // OP-81
  test("with 404 or 405 if the path or the method is another", async () => {
    const known = log(1);
    expect((await fetch(`${witness.url}/add-checkpoint`)).status).toBe(405);
    expect((await fetch(`${witness.url}/`, { method: "POST", body: known.submission(0) })).status).toBe(404);
  });
});
