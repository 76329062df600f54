/** Splits a request path into segments without decoding or copying it (GW-13). */
import { PATH_BYTES_MAX } from "./maximum-sizes.ts";

const SLASH = 0x2f;
const PERCENT = 0x25;

/** Returns a path in the form that the gateway matches: parsed as a URL, without query and fragment. */
export function parsedPath(path: string): string {
  return new URL(`http://gateway${path.replace(/[?#].*$/s, "")}`).pathname;
}

/** Returns the segments of a request's path in the spelling of route literals. */
export function literalSegments(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/").map(withLowerCaseEscapes);
}

/**
 * A reader that splits one path at a time into segments. The reader reuses its buffers. PERFORMANCE.md
 * compares the reader with `split`.
 */
export class RequestPath {
  #text = "";
  /**
   * The end of each segment. The first segment starts at 1. Each other segment starts after the slash that
   * ends the previous segment.
   */
  readonly #ends = new Uint32Array(PATH_BYTES_MAX / 2);
  readonly #hashes = new Int32Array(PATH_BYTES_MAX / 2);

  /**
   * Reads `text`, which replaces the previous path.
   *
   * @returns the number of segments, or -1 for a path that no route can match: an empty segment, a control
   * byte, a space, a byte outside ASCII, a broken escape, or too many segments
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

  /** Returns the hash of a segment, which equals the {@link segmentHash} of a matching literal. */
  hash(level: number): number {
    return this.#hashes[level] ?? 0;
  }

  /** Returns whether the segment matches a literal of a route. The case of escapes does not matter. */
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

/** Returns a hash of a literal. Different literals rarely have the same hash. */
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

/** Does one step of FNV-1a. */
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
