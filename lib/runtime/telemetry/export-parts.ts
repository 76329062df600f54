import { DataPointType, type MetricData, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { EXPORT_SUCCESS, type Exporter } from "./otlp-export.ts";

/** The maximum number of data points in a request. Serializing them takes some milliseconds, in one piece. */
const POINTS_MAX = 2_000;

/**
 * Wraps an exporter to send many data points in several requests, one after the other. A request that fails ends the
 * export.
 */
export function inParts(exporter: Exporter<ResourceMetrics>): Exporter<ResourceMetrics> {
  return {
    export(metrics, done) {
      const parts = partsOf(metrics);
      const next = (): void => {
        const part = parts.next();
        if (part.done) done({ code: EXPORT_SUCCESS });
        else {
          exporter.export(part.value, (result) => {
            if (result.code === EXPORT_SUCCESS) next();
            else done(result);
          });
        }
      };
      next();
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Yields the metrics in parts of at most {@link POINTS_MAX} data points: at least one part, which can be empty. */
function* partsOf({ resource, scopeMetrics }: ResourceMetrics): Generator<ResourceMetrics, undefined> {
  for (const { scope, metrics } of scopeMetrics) {
    let part: MetricData[] = [];
    let room = POINTS_MAX;
    for (const metric of metrics) {
      for (let from = 0; from < metric.dataPoints.length; ) {
        if (room === 0) {
          yield { resource, scopeMetrics: [{ scope, metrics: part }] };
          part = [];
          room = POINTS_MAX;
        }
        const piece = pieceOf(metric, from, from + room);
        part.push(piece);
        from += piece.dataPoints.length;
        room -= piece.dataPoints.length;
      }
    }
    yield { resource, scopeMetrics: [{ scope, metrics: part }] };
  }
}

/** Returns a metric with some of its data points. */
function pieceOf(metric: MetricData, from: number, to: number): MetricData {
  switch (metric.dataPointType) {
    case DataPointType.HISTOGRAM:
      return { ...metric, dataPoints: metric.dataPoints.slice(from, to) };
    case DataPointType.EXPONENTIAL_HISTOGRAM:
      return { ...metric, dataPoints: metric.dataPoints.slice(from, to) };
    case DataPointType.GAUGE:
      return { ...metric, dataPoints: metric.dataPoints.slice(from, to) };
    case DataPointType.SUM:
      return { ...metric, dataPoints: metric.dataPoints.slice(from, to) };
  }
}
