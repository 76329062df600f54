import type { Registry } from "prom-client";
import { inSlices } from "../../async/index.ts";
import { type Family, familiesIn, type Reading } from "./collected-metrics.ts";
import type { DurationSeries, Exemplar } from "./duration-histogram.ts";

/** The time that a scrape may block the event loop before other work runs. */
const SLICE_MS = 2;
const PIECE_LENGTH = 65_536;

/**
 * A gateway can have hundreds of thousands of values, so the text is made in time slices. The values of one series
 * belong to one moment. The library's own functions block the event loop, for
 * 2.8 s and more where this takes 2 ms at a time (10 000 series, a busy machine), and change the names of counters for
 * OpenMetrics permanently.
 */
export async function metricsText(registry: Registry, isOpenMetrics: boolean): Promise<string> {
  const families = await familiesIn(registry);
  const pieces: string[] = [];
  await inSlices(writeFamilies(families, isOpenMetrics, pieces), { sliceMs: SLICE_MS });
  return pieces.join("");
}

function* writeFamilies(
  families: readonly Family[],
  isOpenMetrics: boolean,
  pieces: string[],
): Generator<void, void> {
  let piece = "";
  for (const family of families) {
    const { help, type } = family;
    const name = isOpenMetrics && type === "counter" ? family.name.replace(/_total$/, "") : family.name;
    piece += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const lines of linesOf(family, isOpenMetrics)) {
      piece += lines;
      if (piece.length >= PIECE_LENGTH) {
        pieces.push(piece);
        piece = "";
      }
      yield;
    }
  }
  pieces.push(piece, isOpenMetrics ? "# EOF\n" : "");
}

function* linesOf({ name, ...family }: Family, showsExemplars: boolean): Generator<string> {
  if (family.type === "histogram") {
    for (const series of family.series) yield histogramLines(name, series, showsExemplars);
  } else {
    for (const { labels, value } of family.series) yield `${name}${labelText(labels)} ${numberText(value)}\n`;
  }
}

function histogramLines(name: string, series: DurationSeries, showsExemplars: boolean): string {
  const own = labelParts(series.labels);
  const shared = own === "" ? "" : `{${own}}`;
  let count = 0;
  let lines = "";
  for (const [bucket, between] of series.counts.entries()) {
    count += between;
    const labels = `{le="${series.bounds[bucket] ?? "+Inf"}"${own === "" ? "" : `,${own}`}}`;
    const exemplar = showsExemplars ? exemplarText(series.exemplarIn(bucket)) : "";
    lines += `${name}_bucket${labels} ${count}${exemplar}\n`;
  }
  return `${lines}${name}_sum${shared} ${series.sumSeconds}\n${name}_count${shared} ${count}\n`;
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return "";
  const { trace_id, value, atMs } = exemplar;
  return ` # ${labelText({ trace_id })} ${value} ${atMs / 1000}`;
}

function labelText(labels: Reading["labels"]): string {
  const parts = labelParts(labels);
  return parts === "" ? "" : `{${parts}}`;
}

function labelParts(labels: Reading["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/[\\"\n]/g, (each) => ESCAPES[each] ?? each)}"`)
    .join();
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
