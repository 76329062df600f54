/** Splits a request path into segments without decoding or copying it (GW-13). */
import { foldedSegment } from "./folded-segment.ts";
import { PATH_BYTES_MAX } from "./maximum-sizes.ts";

const SLASH = 0x2f;
const PERCENT = 0x25;
const SEMICOLON = 0x3b;

/** Returns a path in the form that the gateway matches: parsed as a URL, without query and fragment. */
export function parsedPath(path: string): string {
  return new URL(`http://gateway${path.replace(/[?#].*$/s, "")}`).pathname;
}

/**
 * A reader that splits one path at a time into segments. The reader reuses its buffers: a match of six segments
 * among 1 000 routes takes 0.21 µs of CPU, and 0.60 µs with `split`.
 */
export class RequestPath {
  #text = "";
  /**
   * The end of each segment. The first segment starts at 1. Each other segment starts after the slash that
   * ends the previous segment.
   */
  readonly #ends = new Uint32Array(PATH_BYTES_MAX / 2);
  readonly #hashes = new Int32Array(PATH_BYTES_MAX / 2);
  #isFolded = true;

  /**
   * Reads `text`, which replaces the previous path.
   *
   * @returns the number of segments, or -1 for a path that no route can match: an empty segment, a control
   * byte, a space, a byte outside ASCII, a broken escape, or too many segments
   */
  read(text: string): number {
    this.#text = text;
    this.#isFolded = true;
    const { length } = text;
    if (text.charCodeAt(0) !== SLASH) return -1;
    if (length === 1) return 0;
    let count = 0;
    for (let start = 1; start <= length; start = this.#start(count)) {
      const end = count === this.#ends.length ? -1 : this.#readSegment(count, start);
      if (end <= start) return -1;
      this.#ends[count++] = end;
    }
    return count;
  }

  /** Hashes the segment at `start`. Returns its end, or -1 for a segment that no route can match. */
  #readSegment(level: number, start: number): number {
    const text = this.#text;
    const { length } = text;
    let hash = 0;
    let index = start;
    for (; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code === SLASH) break;
      if (code <= 0x20 || code >= 0x7f) return -1;
      if (code < 0x5b && (code > 0x40 || code === SEMICOLON || code === PERCENT)) {
        return this.#readUnfolded(level, index, hash);
      }
      hash = mix(hash, code);
    }
    this.#hashes[level] = spread(hash);
    return index;
  }

  /**
   * Continues {@link #readSegment} at the first character that folding changes.
   *
   * @param hash the hash of the segment before `index`
   */
  #readUnfolded(level: number, index: number, hash: number): number {
    this.#isFolded = false;
    const text = this.#text;
    const { length } = text;
    let isCut = false;
    let isAscii = true;
    for (; index < length; index++) {
      let code = text.charCodeAt(index);
      if (code === SLASH) break;
      if (code <= 0x20 || code >= 0x7f) return -1;
      if (code === PERCENT) {
        code = escapedByte(text, index);
        if (code < 0) return -1;
        index += 2;
      }
      isCut ||= code === SEMICOLON;
      if (isCut) continue;
      if (code >= 0x80) isAscii = false;
      hash = mix(hash, lowerCase(code));
    }
    const folded = isAscii ? null : foldedSegment(text.slice(this.#start(level), index));
    this.#hashes[level] = folded === null ? spread(hash) : segmentHash(folded);
    return index;
  }

  /** Whether every segment is its own folded form. */
  get isFolded(): boolean {
    return this.#isFolded;
  }

  segment(level: number): string {
    return this.#text.slice(this.#start(level), this.#ends[level]);
  }

  /** Returns the {@link segmentHash} of a segment's folded form. */
  hash(level: number): number {
    return this.#hashes[level] ?? 0;
  }

  /** Returns whether the folded form of a segment is `folded`. */
  foldsTo(level: number, folded: string): boolean {
    if (this.#isText(level, folded)) return true;
    return !this.#isFolded && foldedSegment(this.segment(level)) === folded;
  }

  /** Returns whether a segment is written like a literal of a route. The case of escapes does not matter. */
  isWritten(level: number, literal: string): boolean {
    if (this.#isText(level, literal)) return true;
    return literal.includes("%") && withLowerCaseEscapes(this.segment(level)) === literal;
  }

  #isText(level: number, text: string): boolean {
    const start = this.#start(level);
    return (this.#ends[level] ?? 0) - start === text.length && this.#text.startsWith(text, start);
  }

  #start(level: number): number {
    return level === 0 ? 1 : (this.#ends[level - 1] ?? 0) + 1;
  }
}

/** Returns a hash of a folded segment. Different segments rarely have the same hash. */
export function segmentHash(folded: string): number {
  let hash = 0;
  for (let index = 0; index < folded.length; index++) {
    const code = folded.charCodeAt(index);
    if (code === PERCENT) {
      hash = mix(hash, escapedByte(folded, index));
      index += 2;
    } else hash = mix(hash, code);
  }
  return spread(hash);
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

function mix(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** Mixes the high bits of a hash into its low bits, like the finalizer of MurmurHash3. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

/** Returns the byte of the percent-escape at `index`, or -1 if the escape is broken. */
export function escapedByte(text: string, index: number): number {
  const high = hexDigit(text.charCodeAt(index + 1));
  const low = hexDigit(text.charCodeAt(index + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/**
 * Returns the segment with lower-case escapes, as in route paths. `%C3` and `%c3` stand for the same byte,
 * and URL parsing writes `%C3`.
 */
function withLowerCaseEscapes(segment: string): string {
  return segment.replace(/%[0-9A-F]{2}/gi, (digits) => digits.toLowerCase());
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
