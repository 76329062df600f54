/**
 * Returns a flat copy of a text. A slice retains its whole source and a concatenation its parts, which is too
 * much memory for each route.
 */
export function loneText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
