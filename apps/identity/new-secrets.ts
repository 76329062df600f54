import { formatCredential, SECRET_BYTES } from "@ostiary/lib/domain/credentials";
import type { SecretHashes } from "./secret-hashes.ts";

/** Creates API keys, sessions and invite tokens, and the hashes under which they are stored. */
export interface Secrets {
  /** The first part of the deployment's API keys and sessions. */
  readonly brand: string;
  apiKey(): Secret;
  session(): Secret;
  /** Creates an invite token, which does not contain the brand. */
  inviteToken(): Secret;
  readonly hashesOf: SecretHashes;
}

export interface Secret {
  /** The whole secret. Identity stores only invite tokens as plaintext, and only while the invite is active. */
  readonly plaintext: string;
  /** The hash that is stored and looked up. */
  readonly hash: string;
  /** The part that may be shown and logged. */
  readonly prefix: string;
}

const INVITE_TOKEN_PREFIX = "inv_";
/** The number of random characters that the display prefix contains. */
const SHOWN_LENGTH = 4;

/** Creates the secrets of `brand`. `random` returns the given number of unpredictable bytes. */
export function createSecrets(
  brand: string,
  random: (bytes: number) => Uint8Array,
  hashesOf: SecretHashes,
): Secrets {
  const secretOf = (wirePrefix: string, secret: string): Secret => {
    const plaintext = `${wirePrefix}${secret}`;
    const [hash] = hashesOf(plaintext);
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
    hashesOf,
  };
}
