import { whole } from "../measure/table.ts";
import type { Speed } from "./speed.ts";

const WIDTH = 760;
const LABELS = 320;
const ROW = 30;
const HEAD = 56;
const FOOT = 16;
/** The width of the number to the right of a bar. */
const VALUE = 70;
const LINE = 15;
const LINE_LENGTH = 110;
const LOAD = "64";

/** Returns an SVG bar chart of the requests a second of all rows. It suits light and dark pages. */
export function pictureOf({ taken, loads, rows, is_busy }: Speed): string {
  const bars = rows.flatMap(({ title, figures }) => {
    const found = figures.find(({ load }) => load === LOAD);
    return found === undefined ? [] : [{ title, rate: found.requests_per_second }];
  });
  const origin = linesOf(`${taken}${is_busy ? "; other work ran" : ""}`);
  const height = HEAD + bars.length * ROW + FOOT + origin.length * LINE;
  const scale = (WIDTH - LABELS - VALUE) / Math.max(1, ...bars.map(({ rate }) => rate));
  const drawn = bars.map(({ title, rate }, index) => {
    const y = HEAD + index * ROW;
    const width = rate * scale;
    return [
      `<text class="label" x="${LABELS - 12}" y="${y + 15}" text-anchor="end">${escaped(title)}</text>`,
      `<rect class="bar" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="20" rx="3"/>`,
      `<text class="value" x="${(LABELS + width + 8).toFixed(1)}" y="${y + 15}">${whole(Number(rate.toPrecision(3)))}</text>`,
    ].join("\n  ");
  });
  const origins = origin.map(
    (line, index) =>
      `<text class="small" x="16" y="${height - 12 - (origin.length - 1 - index) * LINE}">${escaped(line)}</text>`,
  );
  const load = loads.find(({ name }) => name === LOAD)?.title ?? "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Requests a second, measured">
  <style>
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .title { font-size: 16px; font-weight: 600; }
    .small { font-size: 11px; fill: #57606a; }
    .bar { fill: #2f6feb; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #8d96a0; }
      .bar { fill: #4493f8; }
    }
  </style>
  <text class="title" x="16" y="26">Requests a second on one core</text>
  <text class="small" x="16" y="43">${escaped(load)}; medians of rounds in turn</text>
  ${drawn.join("\n  ")}
  ${origins.join("\n  ")}
</svg>
`;
}

function linesOf(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.length > LINE_LENGTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
