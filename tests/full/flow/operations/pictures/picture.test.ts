import { describe, expect, test } from "bun:test";
import { dashboards } from "../files.ts";
import { figure, roundedUp } from "./figures.ts";
import { picture } from "./picture.ts";

describe("pictures of dashboards", async () => {
  const all = [...(await dashboards())];

  test.each(all)("%s shows that each panel without series has no data", (_, dashboard) => {
    const drawn = picture(dashboard, new Map());
    expect(drawn.match(/>No data</g)).toHaveLength(dashboard.panels.length);
    for (const { title } of dashboard.panels) expect(drawn).toContain(Bun.escapeHTML(title));
  });

  test.each(all)("%s draws a line for each series, even with missing values", (_, dashboard) => {
    const points: [number, number][] = [
      [0, 1],
      [60, Number.NaN],
      [120, 3],
    ];
    const series = new Map(dashboard.panels.map(({ id }) => [id, [{ name: "<a> & b", points }]]));
    const drawn = picture(dashboard, series);
    const lines = dashboard.panels.filter(({ type }) => type === "timeseries").length;
    expect(drawn.match(/<polyline points="[\d., ]+"/g)).toHaveLength(lines);
    expect(drawn).not.toMatch(/NaN|Infinity|<a>/);
  });
});

test.each([
  [0.000_25, "s", "250 µs"],
  [0.0305, "s", "30.5 ms"],
  [0, "s", "0 s"],
  [600, "s", "10 min"],
  [0.125, "percentunit", "12.5 %"],
  [3_145_728, "bytes", "3 MiB"],
  [0, "bytes", "0 B"],
  [12.345, "reqps", "12.3/s"],
  [7, "short", "7"],
  [Number.NaN, "s", "none"],
])("%p as %s is %p", (value, unit, text) => {
  expect(figure(value, unit)).toBe(text);
});

test.each([
  [0, 1],
  [0.3, 0.5],
  [1, 1],
  [1.01, 2],
  [37, 50],
  [51, 100],
])("an axis for values up to %p ends at %p", (value, top) => {
  expect(roundedUp(value)).toBeCloseTo(top, 9);
});
