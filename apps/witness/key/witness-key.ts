import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { type NoteSigner, noteKeyText, WITNESS_COSIGNATURE } from "@ostiary/lib/domain/tlog";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import { readSigningKeyFile } from "@ostiary/lib/runtime/config/signing-key-file";

/** Returns what is wrong with the key file; a check for `loadConfig`. It never quotes the file. */
export function checkWitnessKeyFile({ WITNESS_KEY_FILE }: { WITNESS_KEY_FILE?: string }): ConfigProblem[] {
  if (WITNESS_KEY_FILE === undefined) return [];
  const read = readSigningKeyFile(WITNESS_KEY_FILE);
  return "problem" in read ? [{ variable: "WITNESS_KEY_FILE", message: `${read.problem}.` }] : [];
}

/** Loads the key of a file that {@link checkWitnessKeyFile} accepts. */
export function loadWitnessKey(name: string, path: string): Promise<NoteSigner> {
  const read = readSigningKeyFile(path);
  if ("problem" in read) throw new Error(`WITNESS_KEY_FILE ${read.problem}.`);
  return signerOf(name, read.key);
}

/** Makes a new key, with its text for a file. */
export async function makeWitnessKey(name: string): Promise<{ key: NoteSigner; pem: string }> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key: await signerOf(name, privateKey), pem };
}

/** Returns the text of the public half, as logs and their readers get it. */
export function verifierKeyOf({ name, publicKey }: NoteSigner): string {
  return noteKeyText({ name, publicKey, type: WITNESS_COSIGNATURE });
}

async function signerOf(name: string, key: KeyObject): Promise<NoteSigner> {
  const { x } = createPublicKey(key).export({ format: "jwk" });
  if (x === undefined) throw new Error("The witness's key does not export its public half.");
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, false, ["sign"]);
  return { name, publicKey: new Uint8Array(Buffer.from(x, "base64url")), privateKey };
}
