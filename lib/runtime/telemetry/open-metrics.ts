import type { Registry } from "prom-client";
import type { Exemplar } from "./duration-histogram.ts";

/** A value as the library gives it; one of a histogram says which of its series it is of. */
interface Sample {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly metricName?: string;
  /** The library has null where it keeps none. */
  readonly exemplar?: Exemplar | null;
}

const TOTAL = "_total";

/**
 * The registry in the format OpenMetrics 1.0, which has room for exemplars. The library's own way to it takes
 * `_total` from the names of counters for good, so that a scrape in the older format would not find them any more.
 */
export async function openMetricsText(registry: Registry): Promise<string> {
  const families = (await registry.getMetricsAsJSON()).map(familyText);
  return `${families.join("")}# EOF\n`;
}

type RegistryMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

function familyText({ name, help, type, values }: RegistryMetric): string {
  // the library declares a numeric enum here and hands out the lowercase name
  const kind = String(type);
  const family = kind === "counter" && name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : name;
  const samples: Sample[] = values;
  const lines = samples.map((sample) => `${sampleText(name, sample)}\n`);
  return `# HELP ${family} ${escapeText(help)}\n# TYPE ${family} ${kind}\n${lines.join("")}`;
}

function sampleText(name: string, { value, labels, metricName = name, exemplar }: Sample): string {
  const text = `${metricName}${labelText(labels)} ${numberText(value)}`;
  if (exemplar === undefined || exemplar === null) return text;
  const { trace_id, value: observed, at_ms } = exemplar;
  return `${text} # ${labelText({ trace_id })} ${numberText(observed)} ${at_ms / 1000}`;
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
