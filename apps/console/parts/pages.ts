/** A long list is shown in pages, so that it costs no more than what is seen of it, and is found by every reader. */
export const PAGE_ROWS = 50;

export interface Page<Row> {
  rows: readonly Row[];
  /** From 1. */
  number: number;
  count: number;
  /** Which rows these are, from 1. */
  first: number;
  last: number;
  total: number;
}

/** The page of that number, or the one nearest to it. */
export function pageOf<Row>(rows: readonly Row[], number: number, size = PAGE_ROWS): Page<Row> {
  const count = Math.max(1, Math.ceil(rows.length / size));
  const at = Math.min(Math.max(1, number), count);
  const start = (at - 1) * size;
  const shown = rows.slice(start, start + size);
  return { rows: shown, number: at, count, first: start + 1, last: start + shown.length, total: rows.length };
}
