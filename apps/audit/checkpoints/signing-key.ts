import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { CheckpointKey, SigningJwk } from "@ostiary/lib/domain/proof";
import { sha256 } from "@ostiary/lib/domain/proof";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";

/** The key that signs checkpoints, with its published half. */
export interface SigningKey extends CheckpointKey {
  jwk: SigningJwk;
}

/** Size limit of the key file. A key in PKCS #8 has some 120 bytes, so a larger file is not a key. */
const FILE_BYTES_MAX = 16_384;
/** File mode bits that let others read or write the file, or its group write it. */
const OPEN_MODE = 0o027;

const RULE =
  "must be the path of an Ed25519 private key in PKCS #8 (PEM), such as openssl genpkey -algorithm ed25519 makes";

/**
 * Returns everything that is wrong with the key file; a check for `loadConfig`. The result never reveals the
 * file's content.
 */
export function checkSigningKeyFile({
  AUDIT_SIGNING_KEY_FILE,
}: {
  AUDIT_SIGNING_KEY_FILE?: string;
}): ConfigProblem[] {
  if (AUDIT_SIGNING_KEY_FILE === undefined) return [];
  const read = readKeyFile(AUDIT_SIGNING_KEY_FILE);
  return "problem" in read ? [{ variable: "AUDIT_SIGNING_KEY_FILE", message: `${read.problem}.` }] : [];
}

/** Loads the key of a file that {@link checkSigningKeyFile} accepts. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  const read = readKeyFile(path);
  if ("problem" in read) throw new Error(`AUDIT_SIGNING_KEY_FILE ${read.problem}.`);
  const pkcs8 = read.key.export({ type: "pkcs8", format: "der" });
  const private_key = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, false, ["sign"]);
  const { x } = createPublicKey(read.key).export({ format: "jwk" });
  if (x === undefined) throw new Error("The signing key does not export its public half.");
  const jwk = jwkOf({ kid: thumbprint(x), x });
  return { kid: jwk.kid, private_key, jwk };
}

/** Returns the thumbprint of a key (RFC 7638) over the members that RFC 8037 names. */
export function thumbprint(x: string): string {
  return Buffer.from(sha256(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }))).toString("base64url");
}

export function jwkOf({ kid, x }: { kid: string; x: string }): SigningJwk {
  return { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" };
}

function readKeyFile(path: string): { key: KeyObject } | { problem: string } {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return { problem: RULE };
    if ((found.mode & OPEN_MODE) !== 0) {
      return { problem: "names a file that others may read or write: run chmod 600 on it" };
    }
    return privateKeyOf(readFileSync(path, "utf8"));
  } catch {
    return { problem: "must be a file that this user may read" };
  }
}

function privateKeyOf(pem: string): { key: KeyObject } | { problem: string } {
  if (!pem.includes("-----BEGIN PRIVATE KEY-----")) return { problem: RULE };
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "ed25519" ? { key } : { problem: RULE };
  } catch {
    return { problem: RULE };
  }
}
