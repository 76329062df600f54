/** A revision as an entity tag, for ETag and If-Match (contract 3). */
export function revisionTag(revision: number): string {
  return `"${revision}"`;
}
