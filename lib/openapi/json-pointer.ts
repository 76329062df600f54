/** The maximum length of a reference. Longer ones are treated as malformed. */
export const REFERENCE_LENGTH_MAX = 2048;

/**
 * Returns the steps of a JSON Pointer in a URI fragment (RFC 6901, section 6), such as `#/paths/~1a`. Returns null for
 * a reference out of the document and for a malformed one.
 */
export function pointerOf(reference: string): string[] | null {
  if (!reference.startsWith("#/") || reference.length > REFERENCE_LENGTH_MAX) return null;
  try {
    return decodeURIComponent(reference)
      .slice(2)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return null;
  }
}

/** Returns the value to which a reference inside a document leads, or undefined if it leads nowhere. */
export function valueAt(root: unknown, reference: string): unknown {
  const pointer = pointerOf(reference);
  if (pointer === null) return undefined;
  let found = root;
  for (const step of pointer) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = Reflect.get(found, step);
  }
  return found;
}
