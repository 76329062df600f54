/** Whether PostgreSQL can hold `text` as it is: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

export const STORABLE_RULE = "must not contain NUL or half of a surrogate pair";
