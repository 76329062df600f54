/** Returns the words of a search, in lower case. */
export function wordsOf(search: string): string[] {
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** Returns whether a text contains all words of a search. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const small = text.toLocaleLowerCase();
  return words.every((word) => small.includes(word));
}
