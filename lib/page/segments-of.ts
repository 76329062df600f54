/**
 * Returns the decoded segments of a fragment such as `#/services/widgets`. Returns null for an invalid percent
 * escape, which a user may have typed.
 */
export function segmentsOf(fragment: string): string[] | null {
  try {
    return fragment
      .replace(/^#?\/?/, "")
      .split("/")
      .map((segment) => decodeURIComponent(segment));
  } catch {
    return null;
  }
}
