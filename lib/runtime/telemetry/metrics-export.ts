import { type HrTime, ValueType } from "@opentelemetry/api";
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
import type { Registry } from "prom-client";
import { type Clock, resultInSlices, systemClock } from "../../async/index.ts";
import type { TelemetryConfig } from "../config/index.ts";
import { type Family, familiesIn } from "./collected-metrics.ts";
import type { DurationSeries } from "./duration-histogram.ts";
import type { Logger } from "./log.ts";
import {
  EXPORT_TIMEOUT_MS,
  exporterOptions,
  reportingFailures,
  serviceResource,
  stopWithin,
} from "./otlp-export.ts";
import type { ServiceIdentity } from "./otlp-target.ts";

const INTERVAL_MS = 60_000;
/** The time that an export may block the event loop before other work runs. */
const SLICE_MS = 2;
/** The maximum number of data points in a request. Serializing them takes some milliseconds, in one piece. */
const POINTS_MAX = 2_000;

/** Exports the metrics of a registry every minute (OP-52). `shutdown` exports the last values and stops. */
export function exportMetrics(
  service: ServiceIdentity,
  config: TelemetryConfig,
  url: string,
  registry: Registry,
  log: Logger,
  clock: Clock = systemClock,
): { shutdown(): Promise<void> } {
  const exporter = new OTLPMetricExporter({
    ...exporterOptions(config, url),
    temporalityPreference: AggregationTemporality.CUMULATIVE,
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: reportingFailures(exporter, url, log),
    exportIntervalMillis: INTERVAL_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS * 2,
    maxExportBatchSize: POINTS_MAX,
    metricProducers: [registryProducer(registry)],
  });
  const provider = new MeterProvider({ resource: serviceResource(service, config), readers: [reader] });
  return { shutdown: () => stopWithin(provider.shutdown(), log, clock) };
}

interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

function registryProducer(registry: Registry): MetricProducer {
  const startTime = millisToHrTime(systemClock.now());
  return {
    async collect() {
      const period = { startTime, endTime: millisToHrTime(systemClock.now()) };
      const families = await familiesIn(registry);
      const metrics = await resultInSlices(metricsOf(families, period), { sliceMs: SLICE_MS });
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

function* metricsOf(families: readonly Family[], period: Period): Generator<void, MetricData[]> {
  const found: MetricData[] = [];
  for (const family of families) {
    const metric = yield* metricOf(family, period);
    if (metric.dataPoints.length > 0) found.push(metric);
    yield;
  }
  return found;
}

function* metricOf({ name, help, ...family }: Family, period: Period): Generator<void, MetricData> {
  const common = {
    descriptor: { name, description: help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (family.type === "histogram") {
    const dataPoints: DataPoint<Histogram>[] = [];
    for (const series of family.series) {
      dataPoints.push(histogramPoint(series, period));
      yield;
    }
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints: DataPoint<number>[] = [];
  for (const { labels, value } of family.series) {
    // A gauge without a source has no value. A scrape shows it as NaN; OTLP leaves it out.
    if (!Number.isNaN(value)) dataPoints.push({ ...period, attributes: labels, value });
    yield;
  }
  return family.type === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

function histogramPoint(series: DurationSeries, period: Period): DataPoint<Histogram> {
  const { labels, bounds, counts, sumSeconds } = series;
  const buckets = { boundaries: [...bounds], counts: [...counts] };
  return { ...period, attributes: labels, value: { buckets, sum: sumSeconds, count: series.count() } };
}
