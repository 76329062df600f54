/**
 * Tests that a witness never forgets what it cosigned, after crashes, failed writes and concurrent requests.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { startProcess } from "../../support/start-process.ts";
import { TestLog } from "../../support/test-log.ts";
import { waitFor } from "../../support/wait-for.ts";
import { addCheckpoint, cosignedAt, newWitness, startWitness, type WitnessFiles } from "./witness-bed.ts";

setDefaultTimeout(120_000);

// OP-83
test("a witness cosigns one of many forks that arrive at once", async () => {
  const log = new TestLog("log.example.com").grow(10);
  const files = await newWitness([log]);
  await using witness = await startWitness(files);
  expect((await witness.add(log.submission(0))).status).toBe(200);
  const forks = Array.from({ length: 60 }, (_, n) => log.forkAt(10).grow(1 + (n % 3)));
  const answers = await Promise.all(forks.map((fork) => witness.add(fork.submission(10))));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...forks.slice(1).map(() => 409)]);
  const winner = forks[answers.findIndex(({ status }) => status === 200)];
  expect((await files.state()).logs).toEqual([
    { origin: log.origin, size: winner?.size ?? 0, root: winner?.root() ?? "" },
  ]);
});

// OP-83
test("a witness cosigns many logs at once, with consecutive heads of each", async () => {
  const logs = Array.from({ length: 20 }, (_, n) => new TestLog(`log.example.com/${n}`));
  const files = await newWitness(logs);
  await using witness = await startWitness(files);
  await Promise.all(
    logs.map(async (log) => {
      for (let size = 1; size <= 5; size++) {
        expect((await witness.add(log.grow(1).submission(size - 1))).status).toBe(200);
      }
    }),
  );
  const stored = (await files.state()).logs.map(({ origin, size, root }) => `${origin} ${size} ${root}`);
  expect(stored.toSorted()).toEqual(logs.map((log) => `${log.origin} 5 ${log.root()}`).toSorted());
});

// OP-83
test("a witness remembers every cosignature that it returned after it is killed at any moment", async () => {
  const log = new TestLog("log.example.com");
  const files = await newWitness([log]);
  let cosigned = 0;
  for (let kills = 0; kills < 3; kills++) {
    const witness = await startProcess("apps/witness/main.ts", { ...files.env, LOG_FILE: "-" });
    const killAt = cosigned + 3 + kills * 5;
    const calls = (async () => {
      for (let size = (await files.state()).logs[0]?.size ?? 0; ; ) {
        log.grow(Math.max(0, size + 1 - log.size));
        const answer = await addCheckpoint(witness.url, log.submission(size, size + 1)).catch(() => null);
        // The kill can cut off a response, so the cosignature was not received and does not count.
        if (!answer?.text.endsWith("\n")) return;
        expect(answer.status).toBe(200);
        expect(cosignedAt(answer.text.trimEnd(), log.text(size + 1), files.verifier_key)).not.toBeNull();
        size += 1;
        cosigned = size;
      }
    })();
    await waitFor(() => cosigned >= killAt, { timeoutMs: 60_000 });
    await witness.kill();
    await calls;
    const [head] = (await files.state()).logs;
    expect(head?.size).toBeOneOf([cosigned, cosigned + 1]);
    expect(head?.root).toBe(log.root(head?.size ?? 0));
  }
});

// OP-83
test("a witness runs in one process at a time", async () => {
  const files = await newWitness([new TestLog("log.example.com")]);
  {
    await using _first = await startWitness(files);
    await expect(startWitness(files)).rejects.toThrow(
      /^WITNESS_STATE_FILE: process \d+ uses .+ Stop that process/,
    );
  }
  await using again = await startWitness(files);
  expect((await again.internal("/health/ready")).status).toBe(200);
});

// OP-83
test("a witness returns 503 and is not ready while the state cannot be written, and forgets nothing", async () => {
  const log = new TestLog("log.example.com").grow(4);
  const files = await newWitness([log]);
  await using witness = await startWitness(files);
  expect((await witness.add(log.submission(0, 3))).status).toBe(200);
  // A folder with the name of the temporary state file makes each write of the state fail.
  const inTheWay = `${files.env.WITNESS_STATE_FILE}.new`;
  await Bun.write(`${inTheWay}/file`, "");
  expect((await witness.add(log.submission(3, 4))).status).toBe(503);
  expect((await witness.internal("/health/ready")).status).toBe(503);
  expect(await (await witness.internal("/metrics")).text()).toMatch(/^witness_state_failures_total [1-9]/m);
  await rm(inTheWay, { recursive: true });
  expect((await witness.internal("/health/ready")).status).toBe(200);
  expect((await witness.add(log.forkAt(2).grow(2).submission(3))).status).toBe(422);
  expect((await witness.add(log.submission(3, 4))).status).toBe(200);
});

// OP-84
test("a witness refuses to start without its state, or with the state of another witness", async () => {
  const files = await newWitness([new TestLog("log.example.com")]);
  const other = await newWitness([new TestLog("log.example.com")]);
  const refusal = async (changes: Record<string, string>) => {
    const error = await startWitness({ env: { ...files.env, ...changes } }).catch(
      (thrown: unknown) => thrown,
    );
    return error instanceof StartRefused ? error.message : Bun.inspect(error);
  };
  const missing = `${files.folder}/missing.json`;
  expect(await refusal({ WITNESS_STATE_FILE: missing })).toContain("does not exist. For a new witness, run");
  expect(await refusal({ WITNESS_STATE_FILE: other.env.WITNESS_STATE_FILE ?? "" })).toContain("another key");
  expect(await refusal({ WITNESS_NAME: "other.example.com" })).toContain("another key or name");
  const states = [
    "",
    "null",
    "{",
    JSON.stringify({ ...(await files.state()), version: 2 }),
    JSON.stringify({ ...(await files.state()), more: true }),
    ...[{ size: -1 }, { size: 1.5 }, { size: "1" }, { root: "x" }, { origin: "" }, { more: 1 }].map((wrong) =>
      stateText(files, [{ origin: "o", size: 1, root: EMPTY, ...wrong }]),
    ),
    stateText(files, [
      { origin: "o", size: 1, root: EMPTY },
      { origin: "o", size: 2, root: EMPTY },
    ]),
  ];
  const path = `${files.folder}/broken.json`;
  for (const text of states) {
    await Bun.write(path, text);
    expect(await refusal({ WITNESS_STATE_FILE: path })).toContain("is not the state of a witness");
  }
  await using _witness = await startWitness(files);
});

const EMPTY = new TestLog("x").root();

function stateText({ verifier_key }: WitnessFiles, logs: readonly Record<string, unknown>[]): string {
  return JSON.stringify({ version: 1, verifier_key: verifier_key, logs });
}
