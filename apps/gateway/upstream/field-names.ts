/**
 * The meanings of header fields for the response reader. All fields except those with the meaning ORDINARY
 * determine where a response ends or whether its connection can be reused.
 */
export const ORDINARY = 0;
export const CONTENT_LENGTH = 1;
export const TRANSFER_ENCODING = 2;
export const CONNECTION = 3;
export const KEEP_ALIVE = 4;

const MEANINGS: ReadonlyMap<string, number> = new Map([
  ["content-length", CONTENT_LENGTH],
  ["transfer-encoding", TRANSFER_ENCODING],
  ["connection", CONNECTION],
  ["keep-alive", KEEP_ALIVE],
]);

/** The size of the table, a power of two, enough for the few dozen names that services use. */
const SLOTS = 1_024;
/** The maximum length of a cached name, which limits the memory of the table to a few hundred kilobytes. */
const NAME_BYTES_MAX = 128;

export interface FieldName {
  readonly name: string;
  readonly meaning: number;
  /** Whether the field is forwarded to the client, which only fields with the meaning ORDINARY can be. */
  readonly kept: boolean;
  readonly bytes: Uint8Array;
}

/**
 * Caches field names by their bytes, so that most responses need no new string for a name and no lookup of
 * its meaning. One table serves all connections of a client.
 */
export class FieldNames {
  readonly #slots: (FieldName | null)[] = new Array<FieldName | null>(SLOTS).fill(null);
  readonly #keeps: (name: string) => boolean;

  /** @param keeps returns whether fields of a name, in lower case, are forwarded to the client */
  constructor(keeps: (name: string) => boolean) {
    this.#keeps = keeps;
  }

  /**
   * Returns the name in `bytes` from `start` to `end`.
   *
   * @param hash the hash of the name, as {@link hashed} computes it
   */
  find(bytes: Buffer, start: number, end: number, hash: number): FieldName {
    const slot = (hash ^ (hash >>> 10)) & (SLOTS - 1);
    const first = this.#slots[slot];
    if (first && isSame(first.bytes, bytes, start, end)) return first;
    const second = this.#slots[slot ^ 1];
    if (second && isSame(second.bytes, bytes, start, end)) return second;
    const learned = this.#learn(bytes, start, end);
    if (end - start <= NAME_BYTES_MAX) this.#slots[first ? slot ^ 1 : slot] = learned;
    return learned;
  }

  #learn(bytes: Buffer, start: number, end: number): FieldName {
    const name = bytes.toString("latin1", start, end).toLowerCase();
    const meaning = MEANINGS.get(name) ?? ORDINARY;
    const kept = meaning === ORDINARY && this.#keeps(name);
    return { name, meaning, kept, bytes: new Uint8Array(bytes.subarray(start, end)) };
  }
}

/** Returns the hash of a name after one more byte. The hash of an empty name is 0. */
export function hashed(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function isSame(known: Uint8Array, bytes: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let index = 0; index < known.length; index++) {
    if (known[index] !== bytes[start + index]) return false;
  }
  return true;
}
