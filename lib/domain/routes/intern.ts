/** The maximum number of shared parts of one kind, so that parts of removed services do not accumulate. */
const SHARED_PARTS_MAX = 1_000;

/** Returns the part that is stored under `key`, or stores and returns the result of `make`. */
export function intern<T>(parts: Map<string, T>, key: string, make: () => T): T {
  const known = parts.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (parts.size >= SHARED_PARTS_MAX) parts.clear();
  parts.set(key, made);
  return made;
}
