/** The form of the token of an invitation. */
const TOKEN = /inv_[A-Za-z0-9_-]{43}/;

/**
 * Returns the token in the link of an invitation, also if a mail program escaped or broke the link, or in a text
 * that someone pasted. Returns null if there is none.
 */
export function inviteTokenIn(text: string): string | null {
  return TOKEN.exec(text.replace(/=?\s/g, ""))?.[0] ?? null;
}
