/** Counts the routes of a stored list. Each method of an item is one route. */
export function countRoutes(rows: readonly { readonly methods: readonly unknown[] }[]): number {
  return rows.reduce((sum, { methods }) => sum + methods.length, 0);
}
