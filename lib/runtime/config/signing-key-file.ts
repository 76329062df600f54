import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** Size limit of a key file. A key in PKCS #8 has some 120 bytes, so a larger file is not a key. */
const FILE_BYTES_MAX = 16_384;
/** File mode bits that let others read or write the file, or its group write it. */
const OPEN_MODE = 0o027;

export const SIGNING_KEY_RULE =
  "must be the path of an Ed25519 private key in PKCS #8 (PEM), such as openssl genpkey -algorithm ed25519 makes";

/** Reads an Ed25519 private key, or returns what is wrong with its file. The result never quotes the file. */
export function readSigningKeyFile(path: string): { key: KeyObject } | { problem: string } {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return { problem: SIGNING_KEY_RULE };
    if ((found.mode & OPEN_MODE) !== 0) {
      return { problem: "names a file that others may read or write: run chmod 600 on it" };
    }
    return privateKeyOf(readFileSync(path, "utf8"));
  } catch {
    return { problem: "must be a file that this user may read" };
  }
}

function privateKeyOf(pem: string): { key: KeyObject } | { problem: string } {
  if (!pem.includes("-----BEGIN PRIVATE KEY-----")) return { problem: SIGNING_KEY_RULE };
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "ed25519" ? { key } : { problem: SIGNING_KEY_RULE };
  } catch {
    return { problem: SIGNING_KEY_RULE };
  }
}
