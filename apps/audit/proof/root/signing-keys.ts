import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { LOG_SIGNATURE, type NoteKey, noteKeyText } from "@ostiary/lib/domain/tlog";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";

const VARIABLE = "AUDIT_SIGNING_KEY_FILE";

/** A key that signs the roots of the tree. */
interface LogKey {
  key: NoteKey;
  privateKey: CryptoKey;
}

/** The keys of a log, at least one. All of them sign while one replaces another. */
export type LogKeys = readonly LogKey[];

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkSigningKeyFile = ({ AUDIT_SIGNING_KEY_FILE }: { AUDIT_SIGNING_KEY_FILE?: string }) =>
  signingKeyFileProblems(VARIABLE, AUDIT_SIGNING_KEY_FILE);

/** Loads the keys of a file that {@link checkSigningKeyFile} accepts, for a log of this name; null without a file. */
export async function loadLogKeys(path: string | undefined, origin: string): Promise<LogKeys | null> {
  if (path === undefined) return null;
  const keys = await loadSigningKeyFile(VARIABLE, path);
  return keys.map(({ privateKey, publicKey }) => ({
    key: { name: origin, type: LOG_SIGNATURE, publicKey },
    privateKey,
  }));
}

/** Returns the keys as verifier keys: `name+hash+key`. */
export function verifierKeys(keys: LogKeys | null): string[] {
  return (keys ?? []).map(({ key }) => noteKeyText(key));
}

/** An Ed25519 key in PKCS #8 has about 120 bytes. */
const FILE_BYTES_MAX = 16_384;
/** The group may write the file, or other users have any access to it. */
const OPEN_MODE = 0o027;

export const SIGNING_KEY_RULE =
  "must be the path of a file with an Ed25519 private key in PKCS #8 (PEM), for example the output of openssl genpkey -algorithm ed25519, or with several such keys";
const PEM_BLOCK = /-----BEGIN PRIVATE KEY-----[^-]*-----END PRIVATE KEY-----/g;

/** The problems never quote the file's content. */
export function signingKeyFileProblems(variable: string, path: string | undefined): ConfigProblem[] {
  const read = path === undefined ? null : readSigningKeyFile(path);
  return read !== null && "problem" in read ? [{ variable, message: `${read.problem}.` }] : [];
}

/** An Ed25519 key. The private half can sign and cannot be exported. */
interface Ed25519Key {
  privateKey: CryptoKey;
  publicKey: Uint8Array;
}

export async function loadSigningKeyFile(variable: string, path: string): Promise<Ed25519Key[]> {
  const read = readSigningKeyFile(path);
  if ("problem" in read) throw new Error(`${variable} ${read.problem}.`);
  return Promise.all(read.keys.map(ed25519KeyOf));
}

async function ed25519KeyOf(key: KeyObject): Promise<Ed25519Key> {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (x === undefined) throw new Error("The signing key does not export its public half.");
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, false, ["sign"]);
  return { privateKey, publicKey: Uint8Array.fromBase64(x, { alphabet: "base64url" }) };
}

function readSigningKeyFile(path: string): { keys: KeyObject[] } | { problem: string } {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return { problem: SIGNING_KEY_RULE };
    if ((found.mode & OPEN_MODE) !== 0) {
      return { problem: "names a file that other users may read or write: run chmod 600 on the file" };
    }
    return privateKeysOf(readFileSync(path, "utf8"));
  } catch {
    return { problem: "must be a file that this user may read" };
  }
}

function privateKeysOf(pem: string): { keys: KeyObject[] } | { problem: string } {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0 || blocks.length !== pem.split("-----BEGIN ").length - 1) {
    return { problem: SIGNING_KEY_RULE };
  }
  try {
    const keys = blocks.map((block) => createPrivateKey(block));
    return keys.every(({ asymmetricKeyType }) => asymmetricKeyType === "ed25519")
      ? { keys }
      : { problem: SIGNING_KEY_RULE };
  } catch {
    return { problem: SIGNING_KEY_RULE };
  }
}
