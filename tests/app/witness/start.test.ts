/** Tests how a witness is initialized, and with which configuration it refuses to start. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { configProblems } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { initVariables } from "@ostiary/witness/config";
import { initWitness } from "@ostiary/witness/init";
import { checkWitnessKeyFile } from "@ostiary/witness/key";
import { checkLogsFile, loadLogsFile } from "@ostiary/witness/logs";
import { commandOf } from "../../support/command-of.ts";
import { runToEnd } from "../../support/run-to-end.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { publicBytes, TestLog, verifierKeyText } from "../../support/test-log.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder("witness");
const log = new TestLog("log.example.com/a");

async function fileOf(text: string, mode = 0o600): Promise<string> {
  const path = join(folder, crypto.randomUUID());
  await writeFile(path, text, { mode });
  return path;
}

function filesOfNewWitness(name = "witness.example.com") {
  const own = temporaryFolder("witness");
  return {
    WITNESS_NAME: name,
    WITNESS_KEY_FILE: join(own, "key.pem"),
    WITNESS_STATE_FILE: join(own, "state.json"),
  };
}

/** Runs the `ostiary` command, and waits until it exits. */
function ostiary(env: Record<string, string>, ...parameters: string[]) {
  const command = [...commandOf("apps/platform/ostiary.ts"), ...parameters];
  return runToEnd(command, { env: { PATH: process.env.PATH, ...env } });
}

describe("ostiary witness init", () => {
  // OP-84
  test("creates a key and a state that only their owner can read, and prints the verifier key", async () => {
    const files = filesOfNewWitness();
    const { exitCode, stdout, stderr } = await ostiary(files, "witness", "init");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^witness\.example\.com\+[0-9a-f]{8}\+BA?[A-Za-z0-9+/]+=*\n$/);
    for (const path of [files.WITNESS_KEY_FILE, files.WITNESS_STATE_FILE]) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
    expect(checkWitnessKeyFile(files)).toEqual([]);
    const state = JSON.parse(await readFile(files.WITNESS_STATE_FILE, "utf8"));
    expect(state).toEqual({ version: 1, verifier_key: stdout.trim(), logs: [] });
  });

  // OP-84
  test("never replaces a key or a state, even if it runs twice at once", async () => {
    const files = filesOfNewWitness();
    const results = await Promise.allSettled([initWitness(files), initWitness(files)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const texts = async () => [
      await readFile(files.WITNESS_KEY_FILE, "utf8"),
      await readFile(files.WITNESS_STATE_FILE, "utf8"),
    ];
    const before = await texts();
    expect(initWitness(files)).rejects.toThrow("exists. A new witness needs a new key and a new state.");
    await rm(files.WITNESS_STATE_FILE);
    const onlyKey = initWitness(files);
    expect(onlyKey).rejects.toBeInstanceOf(StartRefused);
    await onlyKey.catch(() => {});
    expect(await readFile(files.WITNESS_KEY_FILE, "utf8")).toBe(before[0] ?? "");
  });

  // OP-84
  test("names a folder that does not exist", async () => {
    const files = filesOfNewWitness();
    const nowhere = { ...files, WITNESS_STATE_FILE: join(folder, "nowhere/state.json") };
    expect(initWitness(nowhere)).rejects.toThrow("WITNESS_STATE_FILE: ");
  });

  // OP-84
  test.each(["a b", "a+b", "a\nb", "ü", "x".repeat(256), ""])("refuses the name %j", (name) => {
    const problems = configProblems(initVariables, {
      WITNESS_NAME: name,
      WITNESS_KEY_FILE: "k",
      WITNESS_STATE_FILE: "s",
    });
    expect(problems.map(({ variable }) => variable)).toEqual(["WITNESS_NAME"]);
  });
});

// OP-84
test("the start of a witness names every invalid variable and file at once, and exits with 78", async () => {
  const env = {
    WITNESS_NAME: "a name",
    WITNESS_KEY_FILE: await fileOf("no key"),
    WITNESS_LOGS_FILE: await fileOf("logs:\n  - origin: log.example.com\n"),
    PORT: "0",
    INTERNAL_PORT: "70000",
  };
  const { exitCode, stderr } = await ostiary(env, "witness");
  expect(exitCode).toBe(78);
  const named = stderr.split("\n").flatMap((line) => /^ {2}([A-Z_]+)/.exec(line)?.[1] ?? []);
  expect(named.toSorted()).toEqual(
    [
      "INTERNAL_PORT",
      "WITNESS_KEY_FILE",
      "WITNESS_LOGS_FILE",
      "WITNESS_NAME",
      "WITNESS_STATE_FILE",
    ].toSorted(),
  );
});

// OP-84
test("a key file with another kind of key, or one that other users may read, is refused", async () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const right = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const files = [
    await fileOf(privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
    await fileOf(right, 0o644),
    await fileOf(`${right}${" ".repeat(20_000)}`),
    await fileOf(""),
    join(folder, "missing"),
    folder,
  ];
  for (const path of files) {
    expect(checkWitnessKeyFile({ WITNESS_KEY_FILE: path }).map(({ variable }) => variable)).toEqual([
      "WITNESS_KEY_FILE",
    ]);
  }
  expect(checkWitnessKeyFile({ WITNESS_KEY_FILE: await fileOf(right) })).toEqual([]);
});

describe("a file of logs", () => {
  // OP-84
  test("has the keys of each log", async () => {
    const other = new TestLog("log.example.com/b");
    const text = `logs:\n  - origin: ${log.origin}\n    keys: ["${log.verifier_key}", "${other.verifier_key}"]\n  - { origin: other, keys: ["${other.verifier_key}"] }\n`;
    const logs = loadLogsFile(await fileOf(text));
    expect([...logs].map(([origin, keys]) => [origin, keys.map(({ name }) => name)])).toEqual([
      [log.origin, [log.origin, other.origin]],
      ["other", [other.origin]],
    ]);
  });

  const witnessKey = verifierKeyText("w", 4, publicBytes(generateKeyPairSync("ed25519").privateKey));
  const [, name = "", id = "", material = ""] = /^([^+]+)\+([^+]+)\+(.+)$/.exec(log.verifier_key) ?? [];
  const entry = (keys: string) => `logs:\n  - origin: log.example.com/a\n    keys: ${keys}\n`;

  // OP-84
  test.each([
    ["", "line 1: "],
    ["logs: []", "line 1: logs "],
    ["logs: {}", "line 1: logs "],
    ["logs:\n  - 7", "line 2: logs[0] must be a map with origin and keys"],
    ["logs: [\n", "line 2: not valid YAML"],
    ["more: 1\nlogs:\n  - { origin: a, keys: [x] }\n", "line 1: more is not a known field"],
    [
      `logs:\n  - { origin: a, keys: ["${log.verifier_key}"], url: x }\n`,
      "line 2: logs[0].url is not a known",
    ],
    ["logs:\n  - keys: [x]\n", "line 2: logs[0].origin is required"],
    ["logs:\n  - origin: 7\n    keys: [x]\n", "line 2: logs[0].origin must be the origin of a log"],
    ["logs:\n  - origin: a b\n    keys: [x]\n", "line 2: logs[0].origin must be the origin of a log"],
    [entry("[]"), "line 3: logs[0].keys must be a list of 1 to 8"],
    [entry("x"), "line 3: logs[0].keys must be a list of 1 to 8"],
    [entry("[7]"), "line 3: logs[0].keys[0] must be a verifier key"],
    [entry("[x]"), "line 3: logs[0].keys[0] must be a verifier key"],
    [entry(`["${name}+00000000+${material}"]`), "line 3: logs[0].keys[0] must be a verifier key"],
    [entry(`["other+${id}+${material}"]`), "line 3: logs[0].keys[0] must be a verifier key"],
    [entry(`["${log.verifier_key}A"]`), "line 3: logs[0].keys[0] must be a verifier key"],
    [entry(`["${witnessKey}"]`), "line 3: logs[0].keys[0] is the key of a witness: use the key of the log"],
    [
      `${entry(`["${log.verifier_key}"]`)}  - { origin: log.example.com/a, keys: ["${log.verifier_key}"] }\n`,
      "line 4: logs[1].origin occurs twice: list all keys of a log under one origin",
    ],
    [`logs: []\nlogs: []\n`, "a key occurs twice in one map"],
  ])("is refused: %j", async (text, message) => {
    const found = checkLogsFile({ WITNESS_LOGS_FILE: await fileOf(text) });
    expect(found.every(({ variable }) => variable === "WITNESS_LOGS_FILE")).toBe(true);
    expect(found.map((problem) => problem.message).join("\n")).toContain(message);
  });

  // OP-84
  test("is refused if it does not exist", () => {
    expect(checkLogsFile({ WITNESS_LOGS_FILE: join(folder, "missing") })[0]?.message).toContain(
      "cannot be read",
    );
  });
});
