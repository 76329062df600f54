/** The number of rows in one page of a list. Paged lists render fast, and work with every screen reader. */
export const PAGE_ROWS = 50;

export interface Page<Row> {
  rows: readonly Row[];
  number: number;
  count: number;
  first: number;
  last: number;
  total: number;
}

/** Returns the page with this number, or the nearest page that exists. */
export function pageOf<Row>(rows: readonly Row[], number: number, size = PAGE_ROWS): Page<Row> {
  const count = Math.max(1, Math.ceil(rows.length / size));
  const at = Math.min(Math.max(1, number), count);
  const start = (at - 1) * size;
  const shown = rows.slice(start, start + size);
  return { rows: shown, number: at, count, first: start + 1, last: start + shown.length, total: rows.length };
}
