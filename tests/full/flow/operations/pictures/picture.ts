import type { Dashboard } from "../files.ts";
import { figure, roundedUp } from "./figures.ts";

/**
 * One line of a panel. `name` is its name in the legend; each point is `[seconds, value]`, as in Prometheus.
 */
export interface Series {
  name: string;
  points: [number, number][];
}

type Panel = Dashboard["panels"][number];
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const COLUMN = 46;
const ROW = 32;
const GAP = 8;
const COLORS = [
  "#73bf69",
  "#5794f2",
  "#ff9830",
  "#f2495c",
  "#b877d9",
  "#fade2a",
  "#8ab8ff",
  "#ffa6b0",
  "#96d98d",
];
const LEGEND_MAX = 10;
const NAME_MAX = 32;
const FONT = 'font-family="DejaVu Sans, sans-serif"';

/**
 * Returns a dashboard as an SVG image with Grafana's layout. `series` has the lines of each panel, by panel
 * id.
 */
export function picture({ title, panels }: Dashboard, series: ReadonlyMap<number, Series[]>): string {
  const rows = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const [width, height] = [24 * COLUMN + GAP, rows * ROW + 48];
  const drawn = panels.map((panel) => drawPanel(panel, series.get(panel.id) ?? []));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" fill="#111217"/>
${label(12, 28, title, { size: 18, color: "#fff" })}
${drawn.join("\n")}
</svg>
`;
}

function drawPanel(panel: Panel, series: Series[]): string {
  const { x, y, w, h } = panel.gridPos;
  const [width, height] = [w * COLUMN - GAP, h * ROW - GAP];
  const box = { x: 10, y: 28, width: width - 20, height: height - 36 };
  const content = series.length === 0 ? noData(box) : drawContent(panel, series, box);
  return `<g transform="translate(${x * COLUMN + GAP} ${y * ROW + 40})">
<rect width="${width}" height="${height}" rx="3" fill="#181b1f" stroke="#2c3235"/>
${label(10, 19, panel.title, { size: 13, color: "#d8d9da" })}
${content}
</g>`;
}

function drawContent(panel: Panel, series: Series[], box: Box): string {
  const { unit } = panel.fieldConfig.defaults;
  return panel.type === "stat" ? stats(series, unit, box) : timeSeries(series, unit, box);
}

function noData(box: Box): string {
  return label(box.x, box.y + box.height / 2, "No data", { size: 20, color: "#f2495c" });
}

function stats(series: Series[], unit: string, box: Box): string {
  const step = box.width / series.length;
  return series
    .map(({ name, points }, index) => {
      const x = box.x + index * step;
      const last = figure(points.at(-1)?.[1] ?? Number.NaN, unit);
      return `${label(x, box.y + 34, last, { size: 24, color: "#73bf69" })}
${label(x, box.y + 54, name, { size: 10, color: "#9fa7b3" })}`;
    })
    .join("\n");
}

function timeSeries(series: Series[], unit: string, box: Box): string {
  const lines = Math.min(Math.ceil(series.length / 2), LEGEND_MAX / 2);
  const plot = { x: box.x + 54, y: box.y, width: box.width - 60, height: box.height - 20 - lines * 14 };
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const times = series.flatMap(({ points }) => points.map(([time]) => time));
  const top = roundedUp(Math.max(...values, 0));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const xOf = (time: number) => plot.x + ((time - from) / Math.max(to - from, 1)) * plot.width;
  const yOf = (value: number) => plot.y + plot.height * (1 - value / top);
  const drawn = series.map(({ points }, index) => {
    const color = COLORS[index % COLORS.length];
    const path = points
      .filter(([, value]) => Number.isFinite(value))
      .map(([time, value]) => `${xOf(time).toFixed(1)},${yOf(value).toFixed(1)}`);
    return `<polyline points="${path.join(" ")}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
  });
  return [
    axes(top, unit, [from, to], plot),
    ...drawn,
    legend(series, unit, { ...box, y: plot.y + plot.height + 32 }),
  ].join("\n");
}

function axes(top: number, unit: string, [from, to]: [number, number], plot: Box): string {
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = plot.y + plot.height * (1 - part);
    return `<line x1="${plot.x}" x2="${plot.x + plot.width}" y1="${y}" y2="${y}" stroke="#2c3235"/>
${label(plot.x - 6, y + 4, figure(top * part, unit), { size: 10, color: "#9fa7b3", anchor: "end" })}`;
  });
  const times = [0, 0.5, 1].map((part) => {
    const time = new Date((from + (to - from) * part) * 1_000).toISOString().slice(11, 19);
    const anchor = part === 0 ? "start" : part === 1 ? "end" : "middle";
    return label(plot.x + plot.width * part, plot.y + plot.height + 14, time, {
      size: 10,
      color: "#9fa7b3",
      anchor,
    });
  });
  return [...grid, ...times].join("\n");
}

function legend(series: Series[], unit: string, box: Box): string {
  return series
    .slice(0, LEGEND_MAX)
    .map(({ name, points }, index) => {
      const x = box.x + (index % 2) * (box.width / 2);
      const y = box.y + Math.floor(index / 2) * 14;
      const shown = name.length > NAME_MAX ? `${name.slice(0, NAME_MAX)}…` : name;
      const text = `${shown} ${figure(points.at(-1)?.[1] ?? Number.NaN, unit)}`;
      return `<rect x="${x}" y="${y - 7}" width="10" height="3" fill="${COLORS[index % COLORS.length]}"/>
${label(x + 14, y, text, { size: 10, color: "#d8d9da" })}`;
    })
    .join("\n");
}

function label(
  x: number,
  y: number,
  text: string,
  { size, color, anchor = "start" }: { size: number; color: string; anchor?: string },
): string {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${color}" text-anchor="${anchor}" ${FONT}>${Bun.escapeHTML(text)}</text>`;
}
