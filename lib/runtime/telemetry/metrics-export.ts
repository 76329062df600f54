import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { Metric, Registry } from "prom-client";
import { resultInSlices, systemClock } from "../../async/index.ts";
import type { TelemetryConfig } from "../config/index.ts";
import { metricsIn, readingsOf, type SteppedCounter } from "./collected-metrics.ts";
import { DurationHistogram, type DurationSeries } from "./duration-histogram.ts";
import type { Logger } from "./log.ts";
import {
  EXPORT_TIMEOUT_MS,
  exporterOptions,
  reportingFailures,
  serviceResource,
  stopWithin,
} from "./otlp-export.ts";
import type { ServiceIdentity } from "./otlp-target.ts";

/** A running export of a service's metrics. */
interface MetricsExport {
  /** Exports the last values and stops. */
  shutdown(): Promise<void>;
}

const INTERVAL_MS = 60_000;
/** The time that an export may block the event loop before other work runs. */
const SLICE_MS = 2;
/** The maximum number of data points in a request. Serializing them takes some milliseconds, in one piece. */
const POINTS_MAX = 2_000;

/**
 * Exports the metrics of a registry over OTLP (http/protobuf) every minute (OP-52). Exports and scrapes read
 * the same registry.
 */
export function exportMetrics(
  service: ServiceIdentity,
  config: TelemetryConfig,
  url: string,
  registry: Registry,
  log: Logger,
  intervalMs: number = INTERVAL_MS,
): MetricsExport {
  const exporter = new OTLPMetricExporter({
    ...exporterOptions(config, url),
    temporalityPreference: AggregationTemporality.CUMULATIVE,
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: reportingFailures(exporter, url, log),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, EXPORT_TIMEOUT_MS * 2),
    maxExportBatchSize: POINTS_MAX,
    metricProducers: [registryProducer(registry)],
  });
  const provider = new MeterProvider({ resource: serviceResource(service, config), readers: [reader] });
  return { shutdown: () => stopWithin(provider.shutdown(), log) };
}

type RegistryMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

/** A metric with many series, which are read one at a time, or the values of another metric. */
type Source = DurationHistogram | SteppedCounter | RegistryMetric;

async function sourceOf(metric: Metric): Promise<Source> {
  return metric instanceof DurationHistogram ? metric : (readingsOf(metric) ?? (await metric.get()));
}

function* metricsOf(sources: readonly Source[], period: Period): Generator<void, MetricData[]> {
  const found: MetricData[] = [];
  for (const source of sources) {
    if (source instanceof DurationHistogram) found.push(...(yield* histogramData(source, period)));
    else if ("readings" in source) found.push(...(yield* counterData(source, period)));
    else found.push(...metricData(source, period));
    yield;
  }
  return found;
}

function* histogramData(histogram: DurationHistogram, period: Period): Generator<void, MetricData[]> {
  const dataPoints: DataPoint<Histogram>[] = [];
  for (const series of histogram.all) {
    dataPoints.push(seriesPoint(series, period));
    yield;
  }
  if (dataPoints.length === 0) return [];
  return [{ ...commonOf(histogram), dataPointType: DataPointType.HISTOGRAM, dataPoints }];
}

function seriesPoint(series: DurationSeries, period: Period): DataPoint<Histogram> {
  const boundaries: number[] = [];
  const counts: number[] = [];
  let below = 0;
  for (const { le, count } of series.cumulative()) {
    if (le !== "+Inf") boundaries.push(le);
    counts.push(count - below);
    below = count;
  }
  const value = { buckets: { boundaries, counts }, sum: series.sumSeconds, count: below };
  return { ...period, attributes: series.labels, value };
}

function* counterData(counter: SteppedCounter, period: Period): Generator<void, MetricData[]> {
  const dataPoints: DataPoint<number>[] = [];
  for (const { labels, value } of counter.readings()) {
    dataPoints.push({ ...period, attributes: labels, value });
    yield;
  }
  if (dataPoints.length === 0) return [];
  return [{ ...commonOf(counter), dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
}

function commonOf({ name, help }: { name: string; help: string }) {
  return {
    descriptor: { name, description: help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
}

/**
 * A value in the registry. For a value of a histogram, `metricName` is its full name, such as `…_bucket` or
 * `…_sum`.
 */
interface RegistryValue {
  value: number;
  labels: Attributes;
  metricName?: string;
}

interface Period {
  startTime: HrTime;
  endTime: HrTime;
}

function registryProducer(registry: Registry): MetricProducer {
  const startTime = millisToHrTime(systemClock.now());
  return {
    async collect() {
      const period = { startTime, endTime: millisToHrTime(systemClock.now()) };
      const sources = await Promise.all(metricsIn(registry).map(sourceOf));
      const metrics = await resultInSlices(metricsOf(sources, period), { sliceMs: SLICE_MS });
      return {
        resourceMetrics: {
          resource: emptyResource(),
          scopeMetrics: [{ scope: { name: "ostiary" }, metrics }],
        },
        errors: [],
      };
    },
  };
}

/**
 * Converts a metric to OpenTelemetry's form. A metric without values is left out. OpenTelemetry has no form
 * for summaries, so they appear only in scrapes.
 */
function metricData(metric: RegistryMetric, period: Period): MetricData[] {
  const common = commonOf(metric);
  const values: RegistryValue[] = metric.values;
  // A gauge without a source has no value. A scrape shows it as NaN; OTLP leaves it out.
  const known = values.filter(({ value }) => !Number.isNaN(value));
  if (known.length === 0) return [];
  const dataPoints = known.map(({ value, labels }) => ({ ...period, attributes: labels, value }));
  // The library's type declares a numeric enum, but the value is the lowercase name.
  switch (String(metric.type)) {
    case "counter":
      return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }];
    case "gauge":
      return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
    case "histogram":
      return [
        {
          ...common,
          dataPointType: DataPointType.HISTOGRAM,
          dataPoints: histogramPoints(metric.name, values, period),
        },
      ];
    default:
      return [];
  }
}

/**
 * Converts the values of a histogram. The registry lists the buckets of a series with rising bounds, then
 * `+Inf`, the sum and the count. Its bucket counts are cumulative. OpenTelemetry instead counts the values
 * between two bounds.
 */
function histogramPoints(name: string, values: RegistryValue[], period: Period): DataPoint<Histogram>[] {
  const points: DataPoint<Histogram>[] = [];
  let boundaries: number[] = [];
  let counts: number[] = [];
  let below = 0;
  let sum = 0;
  for (const { metricName, labels, value } of values) {
    if (metricName === `${name}_bucket`) {
      if (labels.le !== "+Inf") boundaries.push(Number(labels.le));
      counts.push(value - below);
      below = value;
    } else if (metricName === `${name}_sum`) {
      sum = value;
    } else {
      points.push({
        ...period,
        attributes: labels,
        value: { buckets: { boundaries, counts }, sum, count: value },
      });
      boundaries = [];
      counts = [];
      below = 0;
    }
  }
  return points;
}
