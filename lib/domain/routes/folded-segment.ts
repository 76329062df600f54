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
const READ_AS_DOTS: ReadonlySet<string> = new Set(["", ".", ".."]);

/**
 * Returns the segment cut at the first `;` or `%3B`, percent-decoded, with ASCII letters in lower case. Bytes
 * that a URL path cannot contain stay escaped, with lower-case digits, so that the result is a segment too.
 */
export function foldedSegment(segment: string): string {
  if (!PERHAPS_NOT_FOLDED.test(segment)) return segment;
  const [kept = ""] = segment.split(CUT, 1);
  return kept.replace(ESCAPE, unescaped).toLowerCase();
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
