/** The old and the new value of one changed field, as in audit details. */
interface Change {
  from: unknown;
  to: unknown;
}

/** A row after a change, with the fields that changed. */
export interface Changed<Row> {
  row: Row;
  details: Record<string, Change>;
}

/**
 * Returns the differences between `before` and `after`, field by field (ID-98). Equal fields, and fields that
 * are undefined in `after`, are left out.
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
