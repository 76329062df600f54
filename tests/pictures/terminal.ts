/**
 * Draws the text of a terminal as an SVG. The terminal is dark, so one picture suits light and dark pages.
 */

const COLUMNS = 104;
const LINE_HEIGHT = 19;
const CHARACTER_WIDTH = 7.83;
const MARGIN = 18;
const BAR_HEIGHT = 34;

export type Style = "command" | "heading" | "good" | "bad" | "plain";

/** A text on the screen, whose lines are not wrapped yet. All its lines have the same style. */
export interface ScreenText {
  style: Style;
  text: string;
}

/** Returns an SVG of a terminal window with these texts. Wraps lines at the terminal's width. */
export function terminalSvg(title: string, texts: readonly ScreenText[]): string {
  const lines = texts.flatMap(({ style, text }) =>
    text.split("\n").flatMap((line) => wrapped(line).map((part) => ({ style, part }))),
  );
  const width = Math.round(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = BAR_HEIGHT + lines.length * LINE_HEIGHT + MARGIN + 8;
  const drawn = lines.map(({ style, part }, index) => {
    const y = BAR_HEIGHT + MARGIN + 8 + index * LINE_HEIGHT;
    return `  <text class="${style}" x="${MARGIN}" y="${y}" xml:space="preserve">${Bun.escapeHTML(part)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${Bun.escapeHTML(title)}">
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d1d7e0; }
    .command { fill: #f0f6fc; font-weight: 600; }
    .heading { fill: #79c0ff; }
    .good { fill: #7ee787; }
    .bad { fill: #ffa657; }
    .title { font: 12.5px system-ui, sans-serif; fill: #9198a1; }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
  <rect width="${width - 1}" height="${height - 1}" x="0.5" y="0.5" rx="10" fill="none" stroke="#3d444d"/>
  <circle cx="22" cy="18" r="5.5" fill="#f85149"/><circle cx="41" cy="18" r="5.5" fill="#d29922"/><circle cx="60" cy="18" r="5.5" fill="#3fb950"/>
  <text class="title" x="${width / 2}" y="22" text-anchor="middle">${Bun.escapeHTML(title)}</text>
${drawn.join("\n")}
</svg>
`;
}

function wrapped(line: string): string[] {
  if (line.length <= COLUMNS) return [line];
  return [line.slice(0, COLUMNS), ...wrapped(line.slice(COLUMNS))];
}
