/** The maximum number of remembered parts of one kind. Services that come and go must not fill the memory. */
const SHARED_PARTS_MAX = 1_000;

/** Returns the part that is stored under `key`, or stores the one that `make` returns. */
export function share<T>(parts: Map<string, T>, key: string, make: () => T): T {
  const known = parts.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (parts.size >= SHARED_PARTS_MAX) parts.clear();
  parts.set(key, made);
  return made;
}
