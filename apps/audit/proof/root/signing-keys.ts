import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import {
  knownSignatures,
  LOG_SIGNATURE,
  type NoteKey,
  noteKeyText,
  readNote,
} from "@ostiary/lib/domain/tlog";
import { keyFileProblems, readKeyFile } from "../../key-file.ts";

const VARIABLE = "AUDIT_SIGNING_KEY_FILE";
/** An Ed25519 key in PKCS #8 has about 120 bytes. */
const FILE_BYTES_MAX = 16_384;
export const SIGNING_KEY_RULE =
  "must be the path of a file with an Ed25519 private key in PKCS #8 (PEM), for example the output of openssl genpkey -algorithm ed25519, or with several such keys";
const PEM_BLOCK = /-----BEGIN PRIVATE KEY-----[^-]*-----END PRIVATE KEY-----/g;

interface LogKey {
  key: NoteKey;
  /** Can sign, and cannot be exported. */
  privateKey: CryptoKey;
}

/** The keys of a log, at least one. All of them sign while one replaces another. */
export type LogKeys = readonly LogKey[];

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkSigningKeyFile = ({ AUDIT_SIGNING_KEY_FILE }: { AUDIT_SIGNING_KEY_FILE?: string }) =>
  keyFileProblems(VARIABLE, AUDIT_SIGNING_KEY_FILE, readSigningKeys);

/** Loads the keys of a file that {@link checkSigningKeyFile} accepts, for a log of this name; null without a file. */
export async function loadLogKeys(path: string | undefined, origin: string): Promise<LogKeys | null> {
  if (path === undefined) return null;
  const read = readSigningKeys(path);
  if ("problem" in read) throw new Error(`${VARIABLE} ${read.problem}.`);
  return Promise.all(read.keys.map((key) => logKeyOf(key, origin)));
}

/** Returns the keys as verifier keys: `name+hash+key`. */
export function verifierKeys(keys: LogKeys | null): string[] {
  return (keys ?? []).map(({ key }) => noteKeyText(key));
}

/** Returns those of these keys that signed a note, as verifier keys. */
export async function signersOf(text: string | null, keys: readonly NoteKey[]): Promise<string[]> {
  const note = text === null ? null : readNote(text);
  if (note === null) return [];
  const signatures = await knownSignatures(note, keys);
  return signatures.filter(({ isRight }) => isRight).map(({ key }) => noteKeyText(key));
}

async function logKeyOf(key: KeyObject, name: string): Promise<LogKey> {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (x === undefined) throw new Error("The signing key does not export its public half.");
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, false, ["sign"]);
  const publicKey = Uint8Array.fromBase64(x, { alphabet: "base64url" });
  return { key: { name, type: LOG_SIGNATURE, publicKey }, privateKey };
}

function readSigningKeys(path: string) {
  return readKeyFile(path, { bytesMax: FILE_BYTES_MAX, rule: SIGNING_KEY_RULE }, privateKeysOf);
}

function privateKeysOf(pem: string): KeyObject[] | null {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0 || blocks.length !== pem.split("-----BEGIN ").length - 1) return null;
  try {
    const keys = blocks.map((block) => createPrivateKey(block));
    return keys.every(({ asymmetricKeyType }) => asymmetricKeyType === "ed25519") ? keys : null;
  } catch {
    return null;
  }
}
