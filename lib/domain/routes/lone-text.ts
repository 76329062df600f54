/**
 * Returns a flat copy of a string. The runtime keeps the whole source of a slice in memory, and all parts of
 * a concatenation, which is too much memory for each route.
 */
export function loneText(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
