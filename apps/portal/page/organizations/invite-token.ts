/**
 * Returns the token in a pasted text, which is a link with the token as its fragment, or the token alone.
 */
export function tokenIn(text: string): string {
  const trimmed = text.trim();
  const fragment = URL.parse(trimmed)?.hash.slice(1) ?? "";
  return fragment === "" ? trimmed : fragment;
}
