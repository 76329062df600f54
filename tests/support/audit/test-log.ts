import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/**
 * A transparency log for tests: the tree of RFC 6962, with signed notes of C2SP signed-note. It shares no
 * code with the product and follows the recursive definitions of RFC 6962.
 */
export class TestLog {
  readonly origin: string;
  readonly #key: KeyObject;
  readonly #leaves: Buffer[] = [];

  constructor(origin: string, key: KeyObject = generateKeyPairSync("ed25519").privateKey) {
    this.origin = origin;
    this.#key = key;
  }

  get size(): number {
    return this.#leaves.length;
  }

  /** The log's public key as a verifier key. */
  get verifier_key(): string {
    return verifierKeyText(this.origin, 1, publicBytes(this.#key));
  }

  /** Appends random leaves. */
  grow(count: number): this {
    for (let n = 0; n < count; n++) this.#leaves.push(sha256(Buffer.of(0), Buffer.from(crypto.randomUUID())));
    return this;
  }

  /** Returns a log with the same key and the first `size` leaves of this log. */
  forkAt(size: number): TestLog {
    const fork = new TestLog(this.origin, this.#key);
    fork.#leaves.push(...this.#leaves.slice(0, size));
    return fork;
  }

  /** Returns the root hash of the tree over the first `size` leaves, in base64. */
  root(size = this.size): string {
    return rootOf(this.#leaves.slice(0, size)).toString("base64");
  }

  /** Returns the text of a checkpoint, without signatures. */
  text(size = this.size, root = this.root(size)): string {
    return `${this.origin}\n${size}\n${root}\n`;
  }

  /** Returns a signed note: the text with the signature of this log. */
  note(text = this.text()): string {
    return `${text}\n${this.signature(text)}`;
  }

  /** Returns the signature line of this log for a text. */
  signature(text: string, name = this.origin): string {
    const id = keyId(name, 1, publicBytes(this.#key));
    return `— ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), this.#key)]).toString("base64")}\n`;
  }
}

/** A witness for tests, which cosigns every text without a check. */
export interface TestWitness {
  /** The witness's verifier key. */
  key: string;
  /**
   * Returns the line that cosigns `text`. `timeS` is the time of the cosignature in seconds since 1970, by default
   * the current time.
   */
  line(text: string, timeS?: number): string;
}

export function testWitness(
  name: string,
  privateKey: KeyObject = generateKeyPairSync("ed25519").privateKey,
): TestWitness {
  const publicKey = publicBytes(privateKey);
  return {
    key: verifierKeyText(name, 4, publicKey),
    line(text, timeS = Math.floor(Date.now() / 1_000)) {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(timeS));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${timeS}\n${text}`), privateKey);
      return `— ${name} ${Buffer.concat([keyId(name, 4, publicKey), time, signature]).toString("base64")}\n`;
    },
  };
}

/** Returns a public key as a verifier key. Type 1 is the key of a log, and type 4 is the key of a witness. */
export function verifierKeyText(name: string, type: 1 | 4, publicKey: Buffer): string {
  const material = Buffer.concat([Buffer.of(type), publicKey]).toString("base64");
  return `${name}+${keyId(name, type, publicKey).toString("hex")}+${material}`;
}

export function keyId(name: string, type: 1 | 4, publicKey: Buffer): Buffer {
  return sha256(Buffer.from(`${name}\n`), Buffer.of(type), publicKey).subarray(0, 4);
}

export function publicBytes(key: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(key).export({ format: "jwk" }).x), "base64url");
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}

/** Returns the largest power of two below `size`. */
function half(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1));
}

function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) return sha256();
  if (leaves.length === 1) return first;
  const middle = half(leaves.length);
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)));
}
