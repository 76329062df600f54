/**
 * Returns a text as searches compare it: in lower case, without accents, and in one normal form. The result
 * depends neither on the browser's language nor on how the text was typed.
 */
export function foldOf(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i");
}

/** Splits a search into its words, folded. */
export function wordsOf(search: string): string[] {
  return foldOf(search)
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** Returns whether a folded text contains all words of a search. */
export function hasWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
