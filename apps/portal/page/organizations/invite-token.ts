/** Returns the token from a pasted text: either a link with the token as its fragment, or only the token. */
export function tokenIn(text: string): string {
  const trimmed = text.trim();
  const fragment = URL.parse(trimmed)?.hash.slice(1) ?? "";
  return fragment === "" ? trimmed : fragment;
}
