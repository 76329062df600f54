/** Compares numbers, or texts by their code units. Returns -1, 0 or 1. */
export function compare<Value extends string | bigint>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
