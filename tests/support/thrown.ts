/** Returns the error of this class that `work` throws, or null if none is thrown. Rethrows other errors. */
export function thrownBy<Kind extends Error>(
  kind: abstract new (...parameters: never[]) => Kind,
  work: () => unknown,
): Kind | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
}
