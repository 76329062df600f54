import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
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
import { systemClock } from "../../async/index.ts";
import type { TelemetryConfig } from "../config/index.ts";
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
    metricProducers: [registryProducer(registry)],
  });
  const provider = new MeterProvider({ resource: serviceResource(service, config), readers: [reader] });
  return { shutdown: () => stopWithin(provider.shutdown(), log) };
}

type RegistryMetric = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>[number];

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
  const startTime = hrTime(systemClock.now());
  return {
    async collect() {
      const period = { startTime, endTime: hrTime(systemClock.now()) };
      const metrics = (await registry.getMetricsAsJSON()).flatMap((metric) => metricData(metric, period));
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

function hrTime(epochMs: number): HrTime {
  return [Math.trunc(epochMs / 1000), (epochMs % 1000) * 1_000_000];
}

/**
 * Converts a metric to OpenTelemetry's form. A metric without values is left out. OpenTelemetry has no form
 * for summaries, so they appear only in scrapes.
 */
function metricData(metric: RegistryMetric, period: Period): MetricData[] {
  const common = {
    descriptor: { name: metric.name, description: metric.help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
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
