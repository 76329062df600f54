import { type Static, Type } from "@sinclair/typebox";
import { CompactSign, compactVerify, decodeProtectedHeader, errors, importJWK } from "jose";

const ALGORITHM = "EdDSA";

/** A public key as the audit service publishes it (RFC 8037); `kid` is its thumbprint (RFC 7638). */
export const SigningJwk = Type.Object(
  {
    kty: Type.Literal("OKP", { description: "The kind of key." }),
    crv: Type.Literal("Ed25519", { description: "The curve of the key." }),
    x: Type.String({
      description: "The public key, base64url.",
      pattern: "^[A-Za-z0-9_-]{43}$",
      examples: ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
    }),
    kid: Type.String({
      description: "The key's thumbprint (RFC 7638).",
      examples: ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"],
    }),
    alg: Type.Literal("EdDSA", { description: "The signature algorithm." }),
    use: Type.Literal("sig", { description: "The use of the key: signatures." }),
  },
  { title: "AuditSigningKey", description: "A public key that verifies the signatures of checkpoints." },
);
export type SigningJwk = Static<typeof SigningJwk>;

/** The private key with which the log signs checkpoints. */
export interface CheckpointKey {
  kid: string;
  privateKey: CryptoKey;
}

/** Signs a text as a compact JWS. `type` prevents the use of a signature for another kind of text. */
export function signText(text: string, type: string, key: CheckpointKey): Promise<string> {
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: type })
    .sign(key.privateKey);
}

/** Returns the key id that a JWS names, or null for a text that is not a JWS. */
export function signerOf(jws: string): string | null {
  try {
    return decodeProtectedHeader(jws).kid ?? null;
  } catch {
    return null;
  }
}

/** Returns the signed text of a JWS, or null if the key did not sign the JWS or the type differs. */
export async function signedTextOf(jws: string, type: string, key: SigningJwk): Promise<string | null> {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK(key, ALGORITHM), {
      algorithms: [ALGORITHM],
    });
    return protectedHeader.typ === type ? new TextDecoder().decode(payload) : null;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
    throw error;
  }
}
