/** Returns the words of a text: the parts between white space. */
export const wordsOf = (text: string): string[] => text.trim().split(/\s+/);
