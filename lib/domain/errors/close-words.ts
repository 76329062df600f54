/** The maximum length of a compared word. The cost of a comparison grows with its square. */
const LENGTH_MAX = 64;
/** The number of letters of a word for each edit that counts as a typing error. */
const LETTERS_PER_EDIT = 4;
const EDITS_MAX = 2;

/** Returns the word of `known` that `typed` probably means, or undefined if no word is close. */
export function meantWord(typed: string, known: readonly string[]): string | undefined {
  const text = typed.toLowerCase();
  let meant: { word: string; errors: number } | undefined;
  for (const word of known) {
    const errors = typingErrors(text, word.toLowerCase());
    if (errors !== undefined && errors < (meant?.errors ?? Number.POSITIVE_INFINITY))
      meant = { word, errors };
  }
  return meant?.word;
}

/** Returns whether two different words differ by a typing error, such as a missing letter. */
export function areClose(a: string, b: string): boolean {
  return typingErrors(a, b) !== undefined;
}

/** Returns the number of typing errors between two words that are close, or undefined if they are not close. */
export function typingErrors(a: string, b: string): number | undefined {
  const length = Math.max(a.length, b.length);
  if (length > LENGTH_MAX || Math.abs(a.length - b.length) > EDITS_MAX) return undefined;
  const edits = editsBetween(a, b);
  return edits > 0 && edits <= Math.min(EDITS_MAX, Math.floor(length / LETTERS_PER_EDIT)) ? edits : undefined;
}

/** Returns the number of letters to insert, delete, replace or swap with their neighbor. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const [above = 0, left = 0, diagonal = 0] = [last[column], current[column - 1], last[column - 1]];
      const swap = isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(above + 1, left + 1, diagonal + (isSame ? 0 : 1), swap));
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
}
