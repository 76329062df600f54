/** Returns a text in the form that searches compare: lower case, without accents, however it was typed. */
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
