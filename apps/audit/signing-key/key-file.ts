import { type CheckpointKey, type SigningJwk, sha256 } from "@ostiary/lib/domain/proof";
import { loadSigningKeyFile, signingKeyFileProblems } from "@ostiary/lib/runtime/config/signing-key-file";

/** The key that signs checkpoints, with its public key. */
export interface SigningKey extends CheckpointKey {
  jwk: SigningJwk;
}

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkSigningKeyFile = ({ AUDIT_SIGNING_KEY_FILE }: { AUDIT_SIGNING_KEY_FILE?: string }) =>
  signingKeyFileProblems("AUDIT_SIGNING_KEY_FILE", AUDIT_SIGNING_KEY_FILE);

/** Loads the key of a file that {@link checkSigningKeyFile} accepts. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  const { privateKey, x } = await loadSigningKeyFile("AUDIT_SIGNING_KEY_FILE", path);
  const jwk = jwkOf({ kid: thumbprint(x), x });
  return { kid: jwk.kid, privateKey, jwk };
}

/** Returns the thumbprint of a key (RFC 7638) over the members that RFC 8037 names. */
function thumbprint(x: string): string {
  return Buffer.from(sha256(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }))).toString("base64url");
}

export function jwkOf({ kid, x }: { kid: string; x: string }): SigningJwk {
  return { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" };
}
