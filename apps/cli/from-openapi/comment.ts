/** The number of characters of a comment that come from a description. */
const CHARACTERS_MAX = 160;

/**
 * Returns text of a description for a comment: printable, on one line, and not longer than {@link CHARACTERS_MAX}.
 * Returns an empty text for any other value.
 */
export function commentText(text: unknown): string {
  if (typeof text !== "string") return "";
  // The slice keeps a huge text from being searched as a whole.
  const plain = printableLine(text.slice(0, 4 * CHARACTERS_MAX)).trim();
  const characters = [...plain];
  return characters.length <= CHARACTERS_MAX ? plain : `${characters.slice(0, CHARACTERS_MAX - 1).join("")}…`;
}

/** Replaces line breaks, and the characters that YAML does not print or that show text in another order, by spaces. */
export function printableLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, " ");
}
