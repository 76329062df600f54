import { createHmac, randomBytes } from "node:crypto";
import type { StreamKeys } from "./key-file.ts";

const SECRET_BYTES = 32;
const IV_BYTES = 12;
const SECRET_PREFIX = "whsec_";

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Returns the bytes of a secret that {@link newSecret} made. */
function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
}

/** The error for a secret whose key is no longer in the file, or that somebody changed in the database. */
export class SecretUnreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SecretUnreadable";
  }
}

const encoder = new TextEncoder();

/**
 * Encrypts the secrets of streams with AES-256-GCM (AU-98). An encrypted secret is `key id.base64url(iv and
 * ciphertext)`. The secret is bound to its stream: a copy in another row cannot be decrypted.
 */
export class SecretBox {
  readonly #keys: StreamKeys;

  constructor(keys: StreamKeys) {
    this.#keys = keys;
  }

  async seal(secret: string, stream_id: string): Promise<string> {
    const [key] = await this.#keys.current();
    if (key === undefined) throw new SecretUnreadable("There is no key for the secrets of streams.");
    const iv = randomBytes(IV_BYTES);
    const sealed = await crypto.subtle.encrypt(options(iv, stream_id), key.key, encoder.encode(secret));
    return `${key.id}.${Buffer.concat([iv, Buffer.from(sealed)]).toString("base64url")}`;
  }

  /**
   * Decrypts a secret of a stream.
   *
   * @throws SecretUnreadable
   */
  async open(text: string, stream_id: string): Promise<string> {
    const [id = "", rest = ""] = text.split(".");
    const key = (await this.#keys.current()).find((each) => each.id === id);
    if (key === undefined)
      throw new SecretUnreadable(`The key ${id} of a secret is not in AUDIT_STREAM_KEY_FILE.`);
    const bytes = Buffer.from(rest, "base64url");
    try {
      const iv = new Uint8Array(bytes.subarray(0, IV_BYTES));
      const plain = await crypto.subtle.decrypt(
        options(iv, stream_id),
        key.key,
        new Uint8Array(bytes.subarray(IV_BYTES)),
      );
      return Buffer.from(plain).toString();
    } catch {
      throw new SecretUnreadable(
        "Somebody changed the encrypted secret of a stream, or copied it from another stream.",
      );
    }
  }

  async currentKeyId(): Promise<string> {
    const [key] = await this.#keys.current();
    return key?.id ?? "";
  }
}

function options(iv: Uint8Array<ArrayBuffer>, stream_id: string) {
  return { name: "AES-GCM", iv, additionalData: encoder.encode(`audit-stream:${stream_id}`) };
}

export interface Message {
  id: string;
  body: Buffer;
}

/** Returns the headers of Standard Webhooks: one signature for each secret (AU-96). */
export function signedHeaders(
  { id, body }: Message,
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", secretBytes(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
