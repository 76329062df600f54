import type { JudgedGoal } from "./goal-table.ts";

const WIDTH = 760;
const LABELS = 320;
const ROW = 30;
const HEAD = 56;
const FOOT = 16;
/** The width of the number to the right of a bar. */
const VALUE = 42;
const LINE = 15;
/** The ratio at the right edge of the bars. */
const RATIO_MAX = 1.75;

/**
 * Returns an SVG bar chart of the goals that are ratios, with a mark for each goal's bound. It suits light
 * and dark pages. Figures with a unit and figures with an upper bound are left out. If `isBusy` (other work
 * ran on the machine), the bars show ratios of CPU time, and goals without CPU time are left out.
 *
 * @param origin lines that say when and on which machine the figures were measured
 */
export function pictureOf(
  goals: readonly JudgedGoal[],
  origin: readonly string[],
  { isBusy }: { isBusy: boolean },
): string {
  const ratios = goals.flatMap((goal) => {
    const value = isBusy ? goal.by_cpu : goal.value;
    const isRatio = goal.title.includes(" / ") && !goal.at_most;
    return isRatio && value !== null ? [{ ...goal, value }] : [];
  });
  const height = HEAD + ratios.length * ROW + FOOT + origin.length * LINE;
  const scale = (WIDTH - LABELS - 70) / RATIO_MAX;
  const rows = ratios.map(({ title, value, bound }, index) => {
    const y = HEAD + index * ROW;
    const bar = Math.min(value.median, RATIO_MAX) * scale;
    const mark = LABELS + bound * scale;
    const end = LABELS + bar;
    // Place the number to the right of the mark if it would overlap the mark.
    const text = (mark >= end && mark < end + VALUE ? mark : end) + 8;
    return [
      `<text class="label" x="${LABELS - 12}" y="${y + 15}" text-anchor="end">${escaped(title)}</text>`,
      `<rect class="bar" x="${LABELS}" y="${y}" width="${bar.toFixed(1)}" height="20" rx="3"/>`,
      `<line class="mark" x1="${mark.toFixed(1)}" x2="${mark.toFixed(1)}" y1="${y - 3}" y2="${y + 23}"/>`,
      `<text class="value" x="${text.toFixed(1)}" y="${y + 15}">${value.median.toFixed(2)}</text>`,
    ].join("\n  ");
  });
  const origins = origin.map(
    (line, index) =>
      `<text class="small" x="16" y="${height - 12 - (origin.length - 1 - index) * LINE}">${escaped(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Ratios of speed, measured">
  <style>
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .title { font-size: 16px; font-weight: 600; }
    .small { font-size: 11px; fill: #57606a; }
    .bar { fill: #2f6feb; }
    .mark { stroke: #cf222e; stroke-width: 2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #8d96a0; }
      .bar { fill: #4493f8; }
      .mark { stroke: #f85149; }
    }
  </style>
  <text class="title" x="16" y="26">Speed, relative to what it is compared with</text>
  <text class="small" x="16" y="43">medians of paired rounds${isBusy ? ", by CPU time, because other work ran" : ""}; the line is the goal</text>
  ${rows.join("\n  ")}
  ${origins.join("\n  ")}
</svg>
`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
