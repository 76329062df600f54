import { hashCredential } from "@ostiary/lib/domain/credentials";

/** What secrets are stored under: plain SHA-256, or an HMAC with a pepper that no database holds. */
export interface SecretHashes {
  /** All that a secret may be stored under, that of new ones first. */
  of(text: string): [current: string, ...others: string[]];
}

export interface Peppers {
  /** Under which new secrets are stored; null: under none. */
  readonly current: string | null;
  /** Another one whose hashes are accepted too. */
  readonly previous: string | null;
  readonly plain_accepted: boolean;
}

export const NO_PEPPERS: Peppers = { current: null, previous: null, plain_accepted: true };

/**
 * A hash with a pepper names it by eight digits, so that rows under an older one can be told apart and counted:
 * `hmac-sha256:{pepper}:{hex}`. A plain hash is 64 digits and no more (Identity specification, API key).
 */
export function createSecretHashes({ current, previous, plain_accepted }: Peppers): SecretHashes {
  const newer = current === null ? [] : [peppered(current)];
  const older = previous === null ? [] : [peppered(previous)];
  const plain = plain_accepted ? [hashCredential] : [];
  const [first = hashCredential, ...others] =
    current === null ? [hashCredential, ...older] : [...newer, ...older, ...plain];
  return { of: (text) => [first(text), ...others.map((hash) => hash(text))] };
}

const ID_TEXT = "which pepper this is";
const ID_LENGTH = 8;

function peppered(pepper: string): (text: string) => string {
  const digest = hmacSha256(pepper);
  const prefix = `hmac-sha256:${digest(ID_TEXT).slice(0, ID_LENGTH)}:`;
  return (text) => prefix + digest(text);
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/**
 * HMAC-SHA-256 in hex (RFC 2104), of two calls of the runtime's plain hash, which takes half the time of its own
 * HMAC. A key of at most 64 characters of ASCII makes a first block that is text too.
 */
function hmacSha256(key: string): (text: string) => string {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(key, "ascii");
  const inner = Buffer.from(block.map((byte) => byte ^ 0x36)).toString("ascii");
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  outer.set(block.map((byte) => byte ^ 0x5c));
  const digest = outer.subarray(BLOCK_BYTES);
  return (text) => {
    Bun.SHA256.hash(inner + text, digest);
    return Bun.SHA256.hash(outer, "hex");
  };
}
