import { sha256 as portableSha256 } from "@noble/hashes/sha2.js";

const HASH_BYTES = 32;

/** A SHA-256 hash, such as the running hash of a chain after one entry. */
export type Hash = Uint8Array;

/** 32 zero bytes: the hash of a chain without entries (`chain_0`), and of an empty subtree of the map of heads. */
export const ZERO_HASH: Hash = new Uint8Array(HASH_BYTES);

const encoder = new TextEncoder();

/**
 * Computes SHA-256 in plain JavaScript. WebCrypto has no synchronous hash, and a verification needs millions
 * of hashes.
 */
export function sha256InBrowser(data: string | Uint8Array): Hash {
  return portableSha256(typeof data === "string" ? encoder.encode(data) : data);
}

function sha256OnServer(data: string | Uint8Array): Hash {
  const hash = new Uint8Array(HASH_BYTES);
  Bun.SHA256.hash(data, hash);
  return hash;
}

export const sha256 = "Bun" in globalThis ? sha256OnServer : sha256InBrowser;

/** Returns the SHA-256 of the concatenated `parts`. */
export function hashOf(...parts: readonly Uint8Array[]): Hash {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return sha256(bytes);
}

/** Returns `chain_n = SHA-256(chain_{n-1} || SHA-256(entry_n))` (AU-50). `entryHash` is `SHA-256(entry_n)`. */
export function nextInChain(previous: Hash, entryHash: Hash): Hash {
  return hashOf(previous, entryHash);
}

/** A hash as rows, exports and documents write it: a text that {@link HASH_PATTERN} matches. */
export type HexHash = string;

/** 64 lower-case hexadecimal digits. */
export const HASH_PATTERN = "^[0-9a-f]{64}$";

export function hexOf(hash: Hash): HexHash {
  return hash.toHex();
}

export function hashFromHex(text: HexHash): Hash {
  return Uint8Array.fromHex(text);
}

export function sameHash(a: Hash, b: Hash): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
