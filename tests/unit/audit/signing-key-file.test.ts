import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { dirname } from "node:path";
import { checkSigningKeyFile, loadLogKeys, verifierKeys } from "@ostiary/audit/signing-keys";
import { verifierKeyOf, writeKeyFile, writeSigningKey } from "../../app/audit/proof-bed.ts";
import { rejection } from "../../support/index.ts";

const problem = (path: string) => checkSigningKeyFile({ AUDIT_SIGNING_KEY_FILE: path })[0]?.message;
const pem = (type: "pkcs8" | "spki" | "sec1", key: { export(options: object): string | Buffer }) =>
  String(key.export({ type, format: "pem" }));

// AU-70
describe("AUDIT_SIGNING_KEY_FILE", () => {
  test("may be unset, or name Ed25519 keys in PKCS #8, all of which sign in the order of the file", async () => {
    expect(checkSigningKeyFile({})).toEqual([]);
    expect(await loadLogKeys(undefined, "log.example")).toBeNull();
    const [first, second] = [writeSigningKey(), writeSigningKey()];
    const both = writeKeyFile(`${await Bun.file(first).text()}${await Bun.file(second).text()}`);
    for (const [path, files] of [
      [first, [first]],
      [both, [first, second]],
    ] as const) {
      expect(problem(path)).toBeUndefined();
      const keys = verifierKeys(await loadLogKeys(path, "log.example"));
      expect(keys).toEqual(files.map((file) => verifierKeyOf(file, "log.example")));
    }
  });

  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ed25519 = generateKeyPairSync("ed25519");
  const secret = pem("pkcs8", ed25519.privateKey).split("\n")[1] ?? "";
  test.each([
    ["an RSA key", pem("pkcs8", rsa.privateKey)],
    ["a key in SEC 1 form", pem("sec1", ec.privateKey)],
    ["a public key", pem("spki", ed25519.publicKey)],
    [
      "an encrypted key",
      String(
        ed25519.privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
      ),
    ],
    ["half a key", `-----BEGIN PRIVATE KEY-----\n${secret.slice(0, 20)}\n-----END PRIVATE KEY-----\n`],
    ["a key with a character that is not base64", `-----BEGIN PRIVATE KEY-----\n!${secret}\n`],
    ["an Ed25519 key and a P-256 key", pem("pkcs8", ed25519.privateKey) + pem("pkcs8", ec.privateKey)],
    ["no content", ""],
  ])("is refused for a file with %s, without repeating the content", (_, text) => {
    const message = problem(writeKeyFile(text));
    expect(message).toStartWith("must be the path of a file with an Ed25519 private key in PKCS #8 (PEM)");
    if (text.length > 40) expect(message).not.toContain(text.slice(30, 40));
  });

  test("is refused for a file that other users can read or write, a folder, a device or a missing file", async () => {
    const text = pem("pkcs8", ed25519.privateKey);
    for (const mode of [0o644, 0o602, 0o620, 0o666]) {
      expect(problem(chmodded(text, mode))).toContain("run chmod 600 on the file");
    }
    for (const mode of [0o600, 0o400, 0o440, 0o640]) expect(problem(chmodded(text, mode))).toBeUndefined();
    expect(problem(dirname(writeKeyFile(text)))).toStartWith("must be the path of");
    expect(problem("/dev/null")).toStartWith("must be the path of");
    expect(problem("/nowhere/key.pem")).toBe("must be a file that this user may read.");
    expect(await rejection(loadLogKeys("/nowhere/key.pem", "log.example"))).toMatchObject({
      message: "AUDIT_SIGNING_KEY_FILE must be a file that this user may read.",
    });
  });
});

function chmodded(text: string, mode: number): string {
  const path = writeKeyFile(text);
  Bun.spawnSync(["chmod", mode.toString(8), path]);
  return path;
}
