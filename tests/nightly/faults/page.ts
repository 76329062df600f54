/** The part of FAULTS.md that a run replaces: `table` for a run of all faults, `soak` for random faults. */
export type PagePart = "table" | "soak";

/**
 * Returns the page with `text` between the markers of the part. Returns only the text if the page has no
 * markers.
 */
export function pageWith(page: string, text: string, part: PagePart): string {
  const [begin, end] = [`<!-- ${part}: begin -->`, `<!-- ${part}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) return `${text}\n`;
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
