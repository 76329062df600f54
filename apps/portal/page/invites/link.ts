/** Returns the link of an invitation. The token is in the fragment, which browsers send neither to servers nor in a Referer. */
export function linkOf(token: string): string {
  return `${location.origin}/portal/invite#${encodeURIComponent(token)}`;
}
