import type { Registry } from "prom-client";
import { inSlices } from "../../async/index.ts";
import { type Family, familiesIn, type Reading } from "./collected-metrics.ts";
import type { DurationSeries, Exemplar } from "./duration-histogram.ts";

/** The time that a scrape may block the event loop before other work runs. */
const SLICE_MS = 2;
const PIECE_LENGTH = 65_536;

const TOTAL = "_total";

interface TextFormat {
  familyName(name: string, type: string): string;
  escapeHelp(text: string): string;
  readonly notANumber: string;
  readonly showsExemplars: boolean;
  readonly separator: string;
  readonly end: string;
}

export const PROMETHEUS: TextFormat = {
  familyName: (name) => name,
  escapeHelp: (text) => text.replace(/[\\\n]/g, escaped),
  notANumber: "Nan",
  showsExemplars: false,
  separator: "\n",
  end: "",
};

export const OPEN_METRICS: TextFormat = {
  familyName: (name, type) =>
    type === "counter" && name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : name,
  escapeHelp: escapeText,
  notANumber: "NaN",
  showsExemplars: true,
  separator: "",
  end: "# EOF\n",
};

/**
 * A gateway can have hundreds of thousands of values, so the text is made in time slices. The values of one series
 * belong to one moment. The library's own functions block the event loop, for
 * 2.8 s and more where this takes 2 ms at a time (10 000 series, a busy machine), and change the names of counters for
 * OpenMetrics permanently.
 */
export async function metricsText(registry: Registry, format: TextFormat): Promise<string> {
  const families = await familiesIn(registry);
  const pieces: string[] = [];
  await inSlices(writeFamilies(families, format, pieces), { sliceMs: SLICE_MS });
  return pieces.join("");
}

function* writeFamilies(
  families: readonly Family[],
  format: TextFormat,
  pieces: string[],
): Generator<void, void> {
  let piece = "";
  for (const [index, family] of families.entries()) {
    const { help, type } = family;
    const name = format.familyName(family.name, type);
    if (index > 0) piece += format.separator;
    piece += `# HELP ${name} ${format.escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const lines of linesOf(family, format)) {
      piece += lines;
      if (piece.length >= PIECE_LENGTH) {
        pieces.push(piece);
        piece = "";
      }
      yield;
    }
  }
  pieces.push(piece, format.end);
}

function* linesOf({ name, ...family }: Family, format: TextFormat): Generator<string> {
  if (family.type === "histogram") {
    for (const series of family.series) yield histogramLines(name, series, format);
  } else {
    for (const { labels, value } of family.series)
      yield `${name}${labelText(labels)} ${numberText(value, format)}\n`;
  }
}

function histogramLines(name: string, series: DurationSeries, format: TextFormat): string {
  const own = labelParts(series.labels);
  const shared = own === "" ? "" : `{${own}}`;
  let count = 0;
  let lines = "";
  for (const [bucket, between] of series.counts.entries()) {
    count += between;
    const labels = `{le="${series.bounds[bucket] ?? "+Inf"}"${own === "" ? "" : `,${own}`}}`;
    lines += `${name}_bucket${labels} ${count}${exemplarText(series.exemplarIn(bucket), format)}\n`;
  }
  const sum = numberText(series.sumSeconds, format);
  return `${lines}${name}_sum${shared} ${sum}\n${name}_count${shared} ${count}\n`;
}

function exemplarText(exemplar: Exemplar | undefined, format: TextFormat): string {
  if (exemplar === undefined || !format.showsExemplars) return "";
  const { trace_id, value, atMs } = exemplar;
  return ` # ${labelText({ trace_id })} ${numberText(value, format)} ${atMs / 1000}`;
}

function labelText(labels: Reading["labels"]): string {
  const parts = labelParts(labels);
  return parts === "" ? "" : `{${parts}}`;
}

function labelParts(labels: Reading["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeText(String(value))}"`)
    .join();
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escaped(character: string): string {
  return ESCAPES[character] ?? character;
}

function escapeText(text: string): string {
  return text.replace(/[\\"\n]/g, escaped);
}

function numberText(value: number, { notANumber }: TextFormat): string {
  if (Number.isNaN(value)) return notANumber;
  return Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";
}
