import type { Registry } from "prom-client";
import type { Exemplar } from "./duration-histogram.ts";

/** A value that the library reports. For a value of a histogram, `metricName` is its full name. */
interface Sample {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
  /** The exemplar, or null if the library reports none. */
  readonly exemplar?: Exemplar | null;
}

const TOTAL = "_total";

/**
 * Returns the metrics of a registry in the OpenMetrics 1.0 format, which supports exemplars. The library's
 * own function is not used: it permanently removes `_total` from the names of counters, so they would
 * disappear from later scrapes in the Prometheus format.
 */
export async function openMetricsText(registry: Registry): Promise<string> {
  const families = (await registry.getMetricsAsJSON()).map(familyText);
  return `${families.join("")}# EOF\n`;
}

type RegistryMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

function familyText({ name, help, type, values }: RegistryMetric): string {
  // The library's type declares a numeric enum, but the value is the lowercase name.
  const kind = String(type);
  const family = kind === "counter" && name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : name;
  const samples: Sample[] = values;
  const lines = samples.map((sample) => `${sampleText(name, sample)}\n`);
  return `# HELP ${family} ${escapeText(help)}\n# TYPE ${family} ${kind}\n${lines.join("")}`;
}

function sampleText(name: string, { value, labels, metricName = name, exemplar }: Sample): string {
  const text = `${metricName}${labelText(labels)} ${numberText(value)}`;
  if (exemplar === undefined || exemplar === null) return text;
  const { trace_id, value: observed, atMs } = exemplar;
  return `${text} # ${labelText({ trace_id })} ${numberText(observed)} ${atMs / 1000}`;
}

function labelText(labels: Sample["labels"]): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeText(String(value))}"`);
  return parts.length === 0 ? "" : `{${parts.join()}}`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escapeText(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";
}
