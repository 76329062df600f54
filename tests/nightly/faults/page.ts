const BEGIN = "<!-- results: begin -->";
const END = "<!-- results: end -->";

/** Returns the page with `text` between its markers. Returns only the text if the page has no markers. */
export function pageWith(page: string, text: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) return `${text}\n`;
  return `${page.slice(0, from + BEGIN.length)}\n${text}\n${page.slice(to)}`;
}
