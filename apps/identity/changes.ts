/** Old and new value of one changed field, as audit details carry it. */
export interface Change {
  from: unknown;
  to: unknown;
}

/**
 * What differs between `before` and `after`, field by field (Identity specification, Audit headers). Fields
 * that are the same, or undefined in `after`, are left out.
 */
export function changesBetween<Fields extends Record<string, unknown>>(
  before: Fields,
  after: Partial<Fields>,
): Record<string, Change> {
  const changed: Record<string, Change> = {};
  for (const [field, to] of Object.entries(after)) {
    if (to !== undefined && to !== before[field]) changed[field] = { from: before[field], to };
  }
  return changed;
}
