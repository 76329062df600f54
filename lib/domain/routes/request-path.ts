/** Reading the path of a request without decoding or copying it (contract 4, Matching). */
import { PATH_BYTES_MAX } from "./limits.ts";

const SLASH = 0x2f;
const PERCENT = 0x25;

/** One path at a time, cut into segments; its buffers serve for any number of paths. */
export class RequestPath {
  #text = "";
  /** Where each segment ends; the first one starts at 1, each next one after the slash that ended the one before. */
  readonly #ends = new Uint32Array(PATH_BYTES_MAX / 2);
  readonly #hashes = new Int32Array(PATH_BYTES_MAX / 2);

  /**
   * Reads `text`, which takes the place of the path read before.
   *
   * @returns the number of segments, or -1 for a path that no route can match: an empty segment, a control byte,
   * a space or byte outside ASCII, a broken escape, or more segments than a route has
   */
  read(text: string): number {
    this.#text = text;
    const { length } = text;
    if (text.charCodeAt(0) !== SLASH) return -1;
    if (length === 1) return 0;
    let count = 0;
    let start = 1;
    let hash = 0;
    for (let index = 1; index <= length; index++) {
      const code = index === length ? SLASH : text.charCodeAt(index);
      if (code === SLASH) {
        if (index === start || count === this.#ends.length) return -1;
        this.#hashes[count] = spread(hash);
        this.#ends[count++] = index;
        start = index + 1;
        hash = 0;
      } else if (code <= 0x20 || code >= 0x7f) {
        return -1;
      } else if (code === PERCENT) {
        const byte = escapedByte(text, index);
        if (byte < 0) return -1;
        hash = mix(hash, byte);
        index += 2;
      } else hash = mix(hash, code);
    }
    return count;
  }

  segment(level: number): string {
    return this.#text.slice(this.#start(level), this.#ends[level]);
  }

  /** What {@link segmentHash} gives for a literal that the segment meets. */
  hash(level: number): number {
    return this.#hashes[level] ?? 0;
  }

  /** Whether the segment meets a literal of a route: it is the same, or but for the case of its escapes' digits. */
  meets(level: number, literal: string): boolean {
    const start = this.#start(level);
    if ((this.#ends[level] ?? 0) - start !== literal.length) return false;
    if (this.#text.startsWith(literal, start)) return true;
    return literal.includes("%") && withLowerCaseEscapes(this.segment(level)) === literal;
  }

  #start(level: number): number {
    return level === 0 ? 1 : (this.#ends[level - 1] ?? 0) + 1;
  }
}

/** A number by which literals are told apart at once; two that differ seldom have the same. */
export function segmentHash(literal: string): number {
  let hash = 0;
  for (let index = 0; index < literal.length; index++) {
    const code = literal.charCodeAt(index);
    if (code === PERCENT) {
      hash = mix(hash, escapedByte(literal, index));
      index += 2;
    } else hash = mix(hash, code);
  }
  return spread(hash);
}

/** One step of FNV-1a. */
function mix(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** Lets the high bits of a hash weigh in its low ones, as MurmurHash3 ends. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

/** The byte that the escape at `index` stands for; -1 for a broken one. */
export function escapedByte(text: string, index: number): number {
  const high = hexDigit(text.charCodeAt(index + 1));
  const low = hexDigit(text.charCodeAt(index + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/**
 * The segment with the digits of its escapes in lower case, as paths of routes are written: `%C3` and `%c3` are
 * one byte, and URL parsing writes the former.
 */
function withLowerCaseEscapes(segment: string): string {
  return segment.replace(/%[0-9A-F]{2}/gi, (digits) => digits.toLowerCase());
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
