/**
 * Returns the link of an invitation. The token is in the fragment, which browsers send neither to the server
 * nor in a Referer header.
 */
export function linkOf(token: string): string {
  return `${location.origin}/portal/invite#${encodeURIComponent(token)}`;
}
