/**
 * Returns a flat copy of a string. The runtime keeps the whole source of a slice in memory, and all parts of
 * a concatenation. For thousands of routes, the kept text is too large: see PERFORMANCE.md.
 */
export function flatString(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
