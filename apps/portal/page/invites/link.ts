/** Returns the link of an invitation. The token is in the fragment, which no server and no Referer sees. */
export function linkOf(token: string): string {
  return `${location.origin}/portal/invite#${encodeURIComponent(token)}`;
}
