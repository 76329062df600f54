/** Reading the path of a request without decoding or copying it (contract 4, Matching). */

const SLASH = 0x2f;
const PERCENT = 0x25;

/**
 * Where the segments of `path` end, written into `ends`; the first one starts at 1, each next one after the
 * slash that ended the one before.
 *
 * @returns the number of segments, or -1 for a path that no route can match: an empty segment, a control byte,
 * a space or byte outside ASCII, a broken escape, or more segments than `ends` has room for
 */
export function segmentEnds(path: string, ends: Uint32Array): number {
  const { length } = path;
  if (path.charCodeAt(0) !== SLASH) return -1;
  if (length === 1) return 0;
  let count = 0;
  let start = 1;
  for (let index = 1; index <= length; index++) {
    const code = index === length ? SLASH : path.charCodeAt(index);
    if (code === SLASH) {
      if (index === start || count === ends.length) return -1;
      ends[count++] = index;
      start = index + 1;
    } else if (code <= 0x20 || code >= 0x7f) {
      return -1;
    } else if (code === PERCENT) {
      if (escapedByte(path, index) < 0) return -1;
      index += 2;
    }
  }
  return count;
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
export function withLowerCaseEscapes(segment: string): string {
  let result = "";
  let end = 0;
  for (let index = segment.indexOf("%"); index >= 0; index = segment.indexOf("%", index + 3)) {
    result += segment.slice(end, index) + segment.slice(index, index + 3).toLowerCase();
    end = index + 3;
  }
  return end === 0 ? segment : result + segment.slice(end);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
