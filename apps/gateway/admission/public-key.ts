import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { importJWK } from "jose";

/** Signatures that are accepted (contract 4, Admission). Never `none`, never a shared secret. */
export const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA"],
];

/** A public key of a kind that an accepted algorithm can use. */
const PublicKey = Type.Object({
  kty: Type.Union([Type.Literal("RSA"), Type.Literal("EC"), Type.Literal("OKP")]),
  alg: Type.Optional(Type.Union(ALGORITHMS.map((alg) => Type.Literal(alg)))),
  crv: Type.Optional(Type.String()),
  d: Type.Optional(Type.Undefined()),
});
export type PublicKey = Static<typeof PublicKey>;

/** The algorithm of a key that names none: any that its kind can do tells whether it can be used. */
const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
  Ed25519: "EdDSA",
};

/** Shorter RSA keys verify nothing (RFC 7518, section 3.3). */
const RSA_BITS_MIN = 2_048;

/** Those of `keys` that can verify a signature, in their order: whatever else a key set holds is passed over. */
export async function usableKeys(keys: readonly unknown[]): Promise<PublicKey[]> {
  const checked = await Promise.all(
    keys.map(async (key) => (Value.Check(PublicKey, key) && (await isUsable(key)) ? [key] : [])),
  );
  return checked.flat();
}

async function isUsable(key: PublicKey): Promise<boolean> {
  const alg = key.alg ?? (key.kty === "RSA" ? "RS256" : ALGORITHM_OF_CURVE[key.crv ?? ""]);
  if (alg === undefined) return false;
  try {
    const imported = await importJWK({ ...key }, alg);
    return imported instanceof CryptoKey && isStrong(imported.algorithm);
  } catch {
    return false; // malformed
  }
}

function isStrong(algorithm: object): boolean {
  return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= RSA_BITS_MIN;
}
