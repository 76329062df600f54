import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { Clock } from "@ostiary/lib/async";
import { fileStamp } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { keyFileProblems, readKeyFile } from "../key-file.ts";

const SECRET_BYTES = 32;
const SECRET_PREFIX = "whsec_";

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Returns the bytes of a secret that {@link newSecret} made. */
function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
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

const KEY_BYTES = 32;
const KEYS_MAX = 16;
const FILE_BYTES_MAX = 4_096;

export const STREAM_KEYS_RULE =
  "must be the path of a file with one key of `openssl rand -base64 32` on each line; the first key encrypts new secrets";

/** Returns the problems of the key file. A check for `loadConfig`. */
export const checkStreamKeyFile = ({ AUDIT_STREAM_KEY_FILE }: { AUDIT_STREAM_KEY_FILE?: string }) =>
  keyFileProblems("AUDIT_STREAM_KEY_FILE", AUDIT_STREAM_KEY_FILE, readKeys);

/** A key that encrypts the secrets of streams. */
interface StreamKey {
  /**
   * The first 8 hexadecimal digits of the key's SHA-256. Each secret that the key encrypted begins with these digits.
   */
  id: string;
  bytes: Buffer;
}

function readKeys(path: string) {
  return readKeyFile(path, { bytesMax: FILE_BYTES_MAX, rule: STREAM_KEYS_RULE }, keysOf);
}

function keysOf(text: string): StreamKey[] | null {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const keys = lines.map((line) => Buffer.from(line, "base64"));
  const isRight =
    keys.length > 0 &&
    keys.length <= KEYS_MAX &&
    keys.every((key, index) => key.length === KEY_BYTES && key.toString("base64") === lines[index]);
  if (!isRight) return null;
  return keys.map((bytes) => ({
    id: createHash("sha256").update(bytes).digest("hex").slice(0, 8),
    bytes,
  }));
}

/** The error for a secret whose key is no longer in the file, or that somebody changed in the database. */
export class SecretUnreadable extends Error {}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** The minimum time between two checks of the file. */
const CHECK_MS = 1_000;

/**
 * Encrypts the secrets of streams with the keys of AUDIT_STREAM_KEY_FILE, whose changes take effect without a restart
 * (AU-98). An encrypted secret is `key id.base64url(iv, ciphertext and tag)`. The secret is bound to its stream: a copy
 * in another row cannot be decrypted.
 */
export class SecretBox {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, "warn">;
  #keys: readonly StreamKey[] = [];
  #stamp = "";
  #checkAtMs = 0;

  /** Uses the keys of a file that {@link checkStreamKeyFile} accepts. */
  constructor(path: string, clock: Clock, log: Pick<Logger, "warn">) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    this.#checkFile();
  }

  seal(secret: string, stream_id: string): string {
    const [key] = this.#currentKeys();
    if (key === undefined) throw new SecretUnreadable("There is no key for the secrets of streams.");
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key.bytes, iv).setAAD(boundTo(stream_id));
    const sealed = [iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()];
    return `${key.id}.${Buffer.concat(sealed).toString("base64url")}`;
  }

  /**
   * Decrypts a secret of a stream.
   *
   * @throws SecretUnreadable
   */
  open(text: string, stream_id: string): string {
    const [id = "", rest = ""] = text.split(".");
    const key = this.#currentKeys().find((each) => each.id === id);
    if (key === undefined)
      throw new SecretUnreadable(`The key ${id} of a secret is not in AUDIT_STREAM_KEY_FILE.`);
    const bytes = Buffer.from(rest, "base64url");
    try {
      const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(boundTo(stream_id))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(plain).toString();
    } catch {
      throw new SecretUnreadable(
        "Somebody changed the encrypted secret of a stream, or copied it from another stream.",
      );
    }
  }

  get currentKeyId(): string {
    return this.#currentKeys().at(0)?.id ?? "";
  }

  /** Returns the keys; the first one encrypts. Keeps the last valid keys while the file is invalid. */
  #currentKeys(): readonly StreamKey[] {
    if (this.#clock.elapsedMs() >= this.#checkAtMs) this.#checkFile();
    return this.#keys;
  }

  #checkFile(): void {
    this.#checkAtMs = this.#clock.elapsedMs() + CHECK_MS;
    const stamp = fileStamp(this.#path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const read = readKeys(this.#path);
    if ("keys" in read) this.#keys = read.keys;
    else {
      this.#log.warn(
        { reason: read.problem },
        "the audit service cannot read the keys of streams and keeps the old ones",
      );
    }
  }
}

function boundTo(stream_id: string): Buffer {
  return Buffer.from(`audit-stream:${stream_id}`);
}
