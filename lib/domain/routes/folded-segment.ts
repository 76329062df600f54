/**
 * The folded form of a path segment (GW-205). A service may cut a segment at `;`, decode it or ignore case
 * before it routes. Segments that such a service cannot tell apart have the same folded form.
 */

/** Matches every segment that differs from its folded form. */
const PERHAPS_NOT_FOLDED = /[%;A-Z]/;
const CUT = /;|%3b/i;
const ESCAPE = /%[0-9a-f]{2}/gi;
/** The visible ASCII characters that a URL path can contain unescaped, except `%`, `/` and braces. */
const UNESCAPED = /[!$&-.0-:=@-[\]_a-z|~]/;
/** Escapes of bytes outside ASCII. */
const ESCAPES_OUTSIDE_ASCII = /(?:%[89a-f][0-9a-f])+/g;
const READ_AS_DOTS: ReadonlySet<string> = new Set(["", ".", ".."]);

/**
 * Returns the segment cut at the first `;` or `%3B`, percent-decoded, without differences of case. Bytes that a
 * URL path cannot contain stay escaped, with lower-case digits, so that the result is a segment too.
 */
export function foldedSegment(segment: string): string {
  if (!PERHAPS_NOT_FOLDED.test(segment)) return segment;
  const [kept = ""] = segment.split(CUT, 1);
  return kept.replace(ESCAPE, unescaped).toLowerCase().replace(ESCAPES_OUTSIDE_ASCII, withoutCase);
}

/** Returns whether a service may cut the segment. Some services also drop all segments that follow. */
export function isCut(segment: string): boolean {
  return segment.includes(";") || (segment.includes("%") && CUT.test(segment));
}

/** Returns whether a service may read the segment as an empty segment, `.` or `..`. */
export function isReadAsDots(segment: string): boolean {
  return READ_AS_DOTS.has(foldedSegment(segment));
}

function unescaped(escaped: string): string {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  return UNESCAPED.test(character) ? character : escaped;
}

/** Returns escaped characters without differences of case, or `escaped` if its bytes are no UTF-8. */
function withoutCase(escaped: string): string {
  try {
    const folded = Array.from(decodeURIComponent(escaped), foldedCharacter).join("");
    return encodeURIComponent(folded).toLowerCase();
  } catch {
    return escaped;
  }
}

/**
 * Returns the character in lower case. Some characters outside ASCII have an ASCII letter as their lower or upper
 * case: the Kelvin sign becomes `k`, a long s `s`, a dotless i and a capital I with a dot `i`.
 */
function foldedCharacter(character: string): string {
  return character === "\u0130" ? "i" : character.toLowerCase().toUpperCase().toLowerCase();
}
