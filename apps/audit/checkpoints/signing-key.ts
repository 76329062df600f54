import { createPublicKey } from "node:crypto";
import type { CheckpointKey, SigningJwk } from "@ostiary/lib/domain/proof";
import { sha256 } from "@ostiary/lib/domain/proof";
import type { ConfigProblem } from "@ostiary/lib/runtime/config";
import { readSigningKeyFile } from "@ostiary/lib/runtime/config/signing-key-file";

/** The key that signs checkpoints, with its published half. */
export interface SigningKey extends CheckpointKey {
  jwk: SigningJwk;
}

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
  const read = readSigningKeyFile(AUDIT_SIGNING_KEY_FILE);
  return "problem" in read ? [{ variable: "AUDIT_SIGNING_KEY_FILE", message: `${read.problem}.` }] : [];
}

/** Loads the key of a file that {@link checkSigningKeyFile} accepts. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  const read = readSigningKeyFile(path);
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
