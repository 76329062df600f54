import { formatCredential, hashCredential, SECRET_BYTES } from "@ostiary/lib/domain/credentials";

/** Makes the secrets that are shown once and stored as a hash. */
export interface Secrets {
  /** What API keys and sessions of this deployment begin with. */
  readonly brand: string;
  apiKey(): Secret;
  session(): Secret;
  /** An invite token; it carries no brand. */
  inviteToken(): Secret;
}

export interface Secret {
  /** The secret itself, for the one who asked for it. */
  readonly plaintext: string;
  /** SHA-256 of the plaintext in hex: what is stored and looked up. */
  readonly hash: string;
  /** The part that may be shown and logged. */
  readonly prefix: string;
}

const INVITE_TOKEN_PREFIX = "inv_";
/** Characters of a secret that its display prefix shows. */
const SHOWN_LENGTH = 4;

/** Secrets of `brand`, from `random`, which returns as many unpredictable bytes as it is asked for. */
export function createSecrets(brand: string, random: (bytes: number) => Uint8Array): Secrets {
  return {
    brand,
    apiKey: () => credential(brand, "k", random(SECRET_BYTES)),
    session: () => credential(brand, "s", random(SECRET_BYTES)),
    inviteToken: () => {
      const secret = random(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
      return secretOf(INVITE_TOKEN_PREFIX, secret);
    },
  };
}

function credential(brand: string, kind: "k" | "s", bytes: Uint8Array): Secret {
  const text = formatCredential(brand, kind, bytes);
  const wirePrefix = `${brand}-${kind}-2-`;
  return secretOf(wirePrefix, text.slice(wirePrefix.length));
}

function secretOf(wirePrefix: string, secret: string): Secret {
  const plaintext = `${wirePrefix}${secret}`;
  return {
    plaintext,
    hash: hashCredential(plaintext),
    prefix: `${wirePrefix}${secret.slice(0, SHOWN_LENGTH)}`,
  };
}
