/** Meanings of fields that tell the reader where a response ends and whether its connection can be reused. */
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

/** A power of two. A name has a choice of two slots, so the few dozen names that services use all find one. */
const SLOTS = 1_024;
/** Longer names are not remembered, which bounds the memory of this table to a few hundred kilobytes. */
const NAME_BYTES_MAX = 128;

/** A field name as a service spells it. */
export interface FieldName {
  /** In lower case. */
  readonly name: string;
  readonly meaning: number;
  /** Whether the list of fields holds this field. It never holds the fields that have a meaning to the reader. */
  readonly kept: boolean;
  /** The name as spelled by the service. */
  readonly bytes: Uint8Array;
}

/**
 * Remembers field names by their bytes. Most responses then need no new string for any name, and no look at what the
 * name means. One table serves all connections of a client.
 */
export class FieldNames {
  readonly #slots: (FieldName | null)[] = new Array<FieldName | null>(SLOTS).fill(null);
  readonly #keeps: (name: string) => boolean;

  /** @param keeps whether fields of this name, in lower case, are passed on */
  constructor(keeps: (name: string) => boolean) {
    this.#keeps = keeps;
  }

  /** Returns the name in `bytes` from `start` to `end`, whose hash by {@link hashed} is `hash`. */
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

/** Adds a byte to the hash of a name, which begins as 0. */
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
