import { formatCredential, SECRET_BYTES } from "@ostiary/lib/domain/credentials";
import type { SecretHashes } from "./secret-hashes.ts";

/** Makes the secrets that are shown once and stored as a hash. */
export interface Secrets {
  /** What API keys and sessions of this deployment begin with. */
  readonly brand: string;
  apiKey(): Secret;
  session(): Secret;
  /** An invite token; it carries no brand. */
  inviteToken(): Secret;
  /** All that a secret may be stored under, that of new ones first. */
  hashesOf(text: string): [current: string, ...others: string[]];
}

export interface Secret {
  /** The secret itself, for the one who asked for it. */
  readonly plaintext: string;
  /** What is stored in its place and looked up. */
  readonly hash: string;
  /** The part that may be shown and logged. */
  readonly prefix: string;
}

const INVITE_TOKEN_PREFIX = "inv_";
/** Characters of a secret that its display prefix shows. */
const SHOWN_LENGTH = 4;

/** Secrets of `brand`, from `random`, which returns as many unpredictable bytes as it is asked for. */
export function createSecrets(
  brand: string,
  random: (bytes: number) => Uint8Array,
  hashes: SecretHashes,
): Secrets {
  const secretOf = (wirePrefix: string, secret: string): Secret => {
    const plaintext = `${wirePrefix}${secret}`;
    const [hash] = hashes.of(plaintext);
    return { plaintext, hash, prefix: `${wirePrefix}${secret.slice(0, SHOWN_LENGTH)}` };
  };
  const credential = (kind: "k" | "s") => {
    const wirePrefix = `${brand}-${kind}-2-`;
    const text = formatCredential(brand, kind, random(SECRET_BYTES));
    return secretOf(wirePrefix, text.slice(wirePrefix.length));
  };
  return {
    brand,
    apiKey: () => credential("k"),
    session: () => credential("s"),
    inviteToken: () => {
      const secret = random(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
      return secretOf(INVITE_TOKEN_PREFIX, secret);
    },
    hashesOf: (text) => hashes.of(text),
  };
}
