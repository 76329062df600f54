import { formatCredential, hashCredential, SECRET_BYTES } from "@ostiary/lib/credentials";
import type { Secret, Secrets } from "./directory.ts";

const INVITE_TOKEN_PREFIX = "inv_";
/** Characters of a secret that its display prefix shows. */
const SHOWN_LENGTH = 4;

/** Makes secrets from `random`, which returns as many unpredictable bytes as it is asked for. */
export function createSecrets(brand: string, random: (bytes: number) => Uint8Array): Secrets {
  return {
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
