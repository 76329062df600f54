import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

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

function keyId(name: string, type: 1 | 4, publicKey: Buffer): Buffer {
  return sha256(Buffer.from(`${name}\n`), Buffer.of(type), publicKey).subarray(0, 4);
}

export function publicBytes(key: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(key).export({ format: "jwk" }).x), "base64url");
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}
