/** The maximum length of the name of an organization, service account or API key, in characters. */
export const NAME_LENGTH_MAX = 128;
/** The maximum length of the address that is shown with an invite, in characters. */
export const EMAIL_LENGTH_MAX = 320;

/** Character classes for patterns: the whitespace around a text, and control characters. */
const SPACES = "\\t-\\r \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f";
const VISIBLE = `[^${CONTROLS}${SPACES}]`;

/**
 * Text with a visible character; only the whitespace around it may have control characters. The pattern avoids
 * surrogates, lookahead and `\s`, in which regex dialects differ, and matches in linear time.
 */
export const TEXT_PATTERN = `^[${SPACES}]*${VISIBLE}(?:[^${CONTROLS}]*${VISIBLE})?[${SPACES}]*$`;
const TEXT = new RegExp(TEXT_PATTERN);

type TextProblem = "empty" | "too_long" | "control_characters";

/** Returns what is wrong with a text, or null for 1 to `lengthMax` code points after trimming. */
export function problemOfText(text: string, lengthMax: number): TextProblem | null {
  const inner = text.trim();
  if (inner === "") return "empty";
  // Cheap checks come first. A character has at most two UTF-16 units.
  if (inner.length > 2 * lengthMax) return "too_long";
  if (!inner.isWellFormed() || !TEXT.test(inner)) return "control_characters";
  return Array.from(inner).length > lengthMax ? "too_long" : null;
}

/** Characters that browsers show as nothing, such as joiners, directional marks and the blank of braille. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]/gu;

/** Returns whether a text shows nothing, so that it cannot serve as a name. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, "") === "";
}
