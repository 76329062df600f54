import { hashCredential } from "@ostiary/lib/domain/credentials";

/**
 * Returns every hash under which a secret may be stored, with the hash for new secrets first. A hash is plain SHA-256,
 * or an HMAC with a pepper that is not in the database.
 */
export type SecretHashes = (text: string) => [current: string, ...others: string[]];

export interface Peppers {
  /** The pepper for new secrets. With null, new hashes are plain SHA-256. */
  readonly current: string | null;
  /** Another pepper whose hashes are accepted, or null if there is none. */
  readonly previous: string | null;
  readonly plainAccepted: boolean;
}

/**
 * Returns the function that hashes secrets. A hash with a pepper has the form `hmac-sha256:{pepper}:{hex}`, where eight
 * digits name the pepper. So rows that were hashed with an older pepper can be found and counted. A plain
 * hash is only 64 digits (ID-81).
 */
export function secretHashes({ current, previous, plainAccepted }: Peppers): SecretHashes {
  const newer = current === null ? [] : [peppered(current)];
  const older = previous === null ? [] : [peppered(previous)];
  const plain = plainAccepted ? [hashCredential] : [];
  const [first = hashCredential, ...others] =
    current === null ? [hashCredential, ...older] : [...newer, ...older, ...plain];
  return (text) => [first(text), ...others.map((hash) => hash(text))];
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
 * Returns a function for HMAC-SHA-256 in hex (RFC 2104). Two calls of the runtime's plain hash take half the
 * time of the runtime's HMAC. The key must have at most 64 ASCII characters, so that the first block is ASCII
 * text.
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
