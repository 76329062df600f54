/** The part of the page that a run writes: `table` for the faults in order, `soak` for random faults. */
export type PagePart = "table" | "soak";

/** Returns the page with `text` between the two markers of the part, or only the text for a page without them. */
export function pageWith(page: string, text: string, part: PagePart): string {
  const [begin, end] = [`<!-- ${part}: begin -->`, `<!-- ${part}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) return `${text}\n`;
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
