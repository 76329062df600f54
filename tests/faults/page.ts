const BEGIN = "<!-- table: begin -->";
const END = "<!-- table: end -->";

/** The page with `text` between its two markers; the text alone for a page without them. */
export function pageWith(page: string, text: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) return `${text}\n`;
  return `${page.slice(0, begin + BEGIN.length)}\n${text}\n${page.slice(end)}`;
}
