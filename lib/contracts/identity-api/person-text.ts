/** The maximum length of the name of an organization, service account or API key, in characters. */
export const NAME_LENGTH_MAX = 128;
/** The maximum length of the address that is shown with an invite, in characters. */
export const EMAIL_LENGTH_MAX = 320;

/**
 * Character classes for patterns: whitespace that may be within a text, whitespace around it, and control characters.
 */
const BLANKS = " \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
const SPACES = `\\t-\\r${BLANKS}`;
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f";
/**
 * The characters below U+10000 that show nothing although they are no whitespace: those of Unicode's property
 * Default_Ignorable_Code_Point, and the blank of braille. The list does not change with the Unicode version of a
 * client.
 */
const UNSEEN =
  "\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8";
const INNER = `[^${CONTROLS}${SPACES}]`;
const SHOWN = `[^${CONTROLS}${SPACES}${UNSEEN}]`;

/**
 * Text with a character that shows something; only the whitespace around it may have control characters. The pattern
 * avoids surrogates, lookahead and `\s`, in which regex dialects differ, and matches in linear time.
 */
export const TEXT_PATTERN = `^[${SPACES}]*(?:[${UNSEEN}][${UNSEEN}${BLANKS}]*)?${SHOWN}(?:[^${CONTROLS}]*${INNER})?[${SPACES}]*$`;
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
