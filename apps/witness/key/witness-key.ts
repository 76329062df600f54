import { generateKeyPairSync } from "node:crypto";
import { type NoteSigner, noteKeyText, WITNESS_COSIGNATURE } from "@ostiary/lib/domain/tlog";
import {
  type Ed25519Key,
  ed25519KeyOf,
  loadSigningKeyFile,
  signingKeyFileProblems,
} from "@ostiary/lib/runtime/config/signing-key-file";

/** Checks the key file for `loadConfig` and returns every problem. */
export const checkWitnessKeyFile = ({ WITNESS_KEY_FILE }: { WITNESS_KEY_FILE?: string }) =>
  signingKeyFileProblems("WITNESS_KEY_FILE", WITNESS_KEY_FILE);

/** Loads the key of a file that {@link checkWitnessKeyFile} accepts. */
export async function loadWitnessKey(name: string, path: string): Promise<NoteSigner> {
  return signerOf(name, await loadSigningKeyFile("WITNESS_KEY_FILE", path));
}

/** Creates a new key, and returns it with its text for a file. */
export async function makeWitnessKey(name: string): Promise<{ key: NoteSigner; pem: string }> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { key: signerOf(name, await ed25519KeyOf(privateKey)), pem };
}

/** Returns the text form of the public key, for logs and their readers. */
export function verifierKeyOf({ name, publicKey }: NoteSigner): string {
  return noteKeyText({ name, publicKey, type: WITNESS_COSIGNATURE });
}

function signerOf(name: string, { x, privateKey }: Ed25519Key): NoteSigner {
  return { name, publicKey: new Uint8Array(Buffer.from(x, "base64url")), privateKey };
}
