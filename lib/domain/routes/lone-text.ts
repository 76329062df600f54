/**
 * Returns a flat copy of a text. A slice would retain its whole source, and a concatenation its parts, which
 * costs too much memory for each route.
 */
export function loneText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
