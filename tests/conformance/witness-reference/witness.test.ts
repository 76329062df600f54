/**
 * Tests the witness against a reference in Go, which uses golang.org/x/mod and filippo.io/torchwood (OP-80).
 * The test is skipped if Go cannot build the reference.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { newWitness, startWitness } from "../../app/witness/witness-bed.ts";
import { runToEnd } from "../../support/run-to-end.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { keyId, publicBytes, verifierKeyText } from "../../support/test-log.ts";

const ORIGIN = "reference.example.com/log";
const folder = temporaryFolder("reference");

const isBuilt = Bun.which("go") !== null && (await build());
const reason = isBuilt ? "" : " (skipped: go is not installed, or cannot build the reference)";

async function build(): Promise<boolean> {
  await cp(import.meta.dir, folder, { recursive: true });
  const child = Bun.spawn(["go", "build", "-o", "reference", "main.go"], {
    cwd: folder,
    stdout: "ignore",
    stderr: "ignore",
    timeout: 180_000,
  });
  return (await child.exited) === 0;
}

async function reference(...parameters: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runToEnd([join(folder, "reference"), ...parameters]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

// OP-80
test.skipIf(!isBuilt)(
  `the witness cosigns the log of the reference, and the reference verifies each cosignature${reason}`,
  async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const publicKey = publicBytes(privateKey);
    const { d: seed = "" } = privateKey.export({ format: "jwk" });
    const secret = Buffer.concat([Buffer.of(1), Buffer.from(seed, "base64url")]).toString("base64");
    const key = `PRIVATE+KEY+${ORIGIN}+${keyId(ORIGIN, 1, publicKey).toString("hex")}+${secret}`;
    const bodies: string[] = JSON.parse(await reference("log", ORIGIN, key));
    const files = await newWitness([{ origin: ORIGIN, verifier_key: verifierKeyText(ORIGIN, 1, publicKey) }]);
    await using witness = await startWitness(files);
    for (const [at, body] of bodies.entries()) {
      const answer = await witness.add(body);
      expect(answer.status).toBe(200);
      const note = join(folder, `note-${at}`);
      await Bun.write(note, body.slice(body.indexOf("\n\n") + 2) + answer.text);
      expect(await reference("open", files.verifier_key, note)).toBe(`${ORIGIN} ${[5, 13, 64][at]}\n`);
    }
    expect(bodies).toHaveLength(3);
  },
  240_000,
);
