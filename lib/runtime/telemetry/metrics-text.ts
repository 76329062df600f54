import type { Metric, Registry } from "prom-client";
import { inSlices } from "../../async/index.ts";
import { metricsIn, readingsOf } from "./collected-metrics.ts";
import { DurationHistogram, type DurationSeries, type Exemplar } from "./duration-histogram.ts";

/** The time that a scrape may block the event loop before other work runs. */
const SLICE_MS = 2;
/** The length of the pieces in which a text is built. */
const PIECE_LENGTH = 65_536;

const TOTAL = "_total";

/** The parts in which the two text formats differ. */
interface TextFormat {
  /** Returns the name of a metric's family. */
  familyName(name: string, type: string): string;
  escapeHelp(text: string): string;
  readonly notANumber: string;
  readonly showsExemplars: boolean;
  /** The text between two families. */
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

/** A metric with the lines of its series, which are made while they are read. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly series: Iterable<string>;
}

/**
 * Returns the metrics of a registry as text. A gateway can have hundreds of thousands of values, so the text is made
 * in time slices. The values of one series belong to one moment. The library's own functions are not used: they block
 * the event loop, and change the names of counters for OpenMetrics permanently.
 */
export async function metricsText(registry: Registry, format: TextFormat): Promise<string> {
  const families = await Promise.all(metricsIn(registry).map((metric) => familyOf(metric, format)));
  const pieces: string[] = [];
  await inSlices(writeFamilies(families, format, pieces), { sliceMs: SLICE_MS });
  return pieces.join("");
}

async function familyOf(metric: Metric, format: TextFormat): Promise<Family> {
  if (metric instanceof DurationHistogram) {
    const { name, help } = metric;
    return { name, help, type: "histogram", series: histogramLines(metric, format) };
  }
  const stepped = readingsOf(metric);
  if (stepped !== undefined) {
    const { name, help, readings } = stepped;
    return { name, help, type: "counter", series: sampleLines(name, readings(), format) };
  }
  const { name, help, type, values } = await metric.get();
  // The library's type declares a numeric enum, but the value is the lowercase name.
  return { name, help, type: String(type), series: sampleLines(name, values, format) };
}

function* writeFamilies(
  families: readonly Family[],
  format: TextFormat,
  pieces: string[],
): Generator<void, void> {
  let piece = "";
  for (const [index, { name, help, type, series }] of families.entries()) {
    const family = format.familyName(name, type);
    if (index > 0) piece += format.separator;
    piece += `# HELP ${family} ${format.escapeHelp(help)}\n# TYPE ${family} ${type}\n`;
    for (const lines of series) {
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

function* histogramLines(histogram: DurationHistogram, format: TextFormat): Generator<string> {
  const { name } = histogram;
  for (const series of histogram.all) yield seriesLines(name, series, format);
}

/** Returns the buckets with rising bounds, the sum and the count of a series. */
function seriesLines(name: string, series: DurationSeries, format: TextFormat): string {
  const own = labelParts(series.labels);
  const shared = own === "" ? "" : `{${own}}`;
  let count = 0;
  let lines = "";
  for (const bucket of series.cumulative()) {
    ({ count } = bucket);
    const labels = `{le="${bucket.le}"${own === "" ? "" : `,${own}`}}`;
    lines += `${name}_bucket${labels} ${count}${exemplarText(bucket.exemplar, format)}\n`;
  }
  const sum = numberText(series.sumSeconds, format);
  return `${lines}${name}_sum${shared} ${sum}\n${name}_count${shared} ${count}\n`;
}

/** A value that the library reports. For a value of a histogram, `metricName` is its full name. */
interface Sample {
  readonly value: number;
  readonly labels: Labels;
  readonly metricName?: string;
}

function* sampleLines(name: string, samples: Iterable<Sample>, format: TextFormat): Generator<string> {
  for (const { value, labels, metricName = name } of samples)
    yield `${metricName}${labelText(labels)} ${numberText(value, format)}\n`;
}

function exemplarText(exemplar: Exemplar | undefined, format: TextFormat): string {
  if (exemplar === undefined || !format.showsExemplars) return "";
  const { trace_id, value, atMs } = exemplar;
  return ` # ${labelText({ trace_id })} ${numberText(value, format)} ${atMs / 1000}`;
}

type Labels = Readonly<Partial<Record<string, string | number>>>;

function labelText(labels: Labels): string {
  const parts = labelParts(labels);
  return parts === "" ? "" : `{${parts}}`;
}

function labelParts(labels: Labels): string {
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
