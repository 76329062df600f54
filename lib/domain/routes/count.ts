/** Counts the routes in rows of the stored form. Each method of a path is one route. */
export function countRoutes(rows: readonly { readonly methods: readonly unknown[] }[]): number {
  return rows.reduce((sum, { methods }) => sum + methods.length, 0);
}
