/** The most characters of the name of an organization, service account or API key. */
export const NAME_LENGTH_MAX = 128;
/** The most characters of the address that is shown with an invite. */
export const EMAIL_LENGTH_MAX = 320;

/** Character classes for patterns: the whitespace around a text, and control characters. */
const SPACES = "\\t-\\r \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f";
const VISIBLE = `[^${CONTROLS}${SPACES}]`;

/**
 * The pattern for text with a visible character, and with control characters only around the text. Avoids
 * surrogates, classes such as `\s` and lookahead, in which dialects differ. Matches in linear time.
 */
export const TEXT_PATTERN = `^[${SPACES}]*${VISIBLE}(?:[^${CONTROLS}]*${VISIBLE})?[${SPACES}]*$`;
const TEXT = new RegExp(TEXT_PATTERN);

/** The problem of a text that a person wrote. */
export type TextProblem = "empty" | "too_long" | "control_characters";

/**
 * Tells what is wrong with a text that a person wrote, or null. A text has 1 to `length_max` characters without the
 * white space around it, counted as code points and not as UTF-16 units or bytes.
 */
export function problemOfText(text: string, length_max: number): TextProblem | null {
  const inner = text.trim();
  if (inner === "") return "empty";
  // Cheap checks come first. A character has at most two UTF-16 units.
  if (inner.length > 2 * length_max) return "too_long";
  if (!inner.isWellFormed() || !TEXT.test(inner)) return "control_characters";
  return Array.from(inner).length > length_max ? "too_long" : null;
}
