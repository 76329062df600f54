import { describe, expect, test } from "bun:test";
import { collectedGauge, createMetrics, createTelemetry, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Gauge } from "prom-client";
import { exportMetrics } from "../../../lib/runtime/telemetry/metrics-export.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import {
  type Collector,
  disabledConfigs,
  keptWarnings,
  startCollector,
  telemetryConfig,
} from "../../support/telemetry/collector.ts";
import { attributesOf } from "../../support/telemetry/otlp-messages.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

/**
 * A clock that stands still, so that no shutdown is late. The collector needs seconds to read thousands of data
 * points on a busy machine, because it checks each of them.
 */
const clock = manualClock();
const AUDIT = { name: "audit", namespace: "audit" };
const CUMULATIVE = 2;

function pushing(endpoint: string) {
  const { log, warnings } = keptWarnings();
  const metrics = createMetrics();
  const config = telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  const url = `${endpoint}/v1/metrics`;
  const pushed = exportMetrics(AUDIT, config, url, metrics.registry, log, clock);
  return { metrics, pushed, warnings };
}

function count(
  metrics: Metrics,
  { route, method = "GET", status = 200, duration_ms = 1 }: CountedRequest,
): void {
  metrics.requests.series(route, method).observe(status, duration_ms);
}

interface CountedRequest {
  route: string;
  method?: string;
  status?: number;
  duration_ms?: number;
}

function named(collector: Collector, name: string) {
  return collector.metrics.find((metric) => metric.name === name);
}

/** Counts the turns of the event loop until the end of the test. Returns a function that returns the count. */
function countTurns(): () => number {
  let turns = 0;
  let next = setImmediate(turn);
  function turn() {
    turns += 1;
    next = setImmediate(turn);
  }
  atTestEnd(() => clearImmediate(next));
  return () => turns;
}

describe("the export of metrics", () => {
  test("sends counters as monotonic cumulative sums with their labels", async () => {
    await using collector = startCollector();
    const { metrics, pushed } = pushing(collector.endpoint);
    for (const _ of [1, 2, 3]) count(metrics, { route: "/a" });
    count(metrics, { route: "/b", method: "POST", status: 503 });
    await pushed.shutdown();
    const sum = named(collector, "http_requests_total")?.sum;
    expect(sum).toMatchObject({ is_monotonic: true, aggregation_temporality: CUMULATIVE });
    expect(sum?.data_points.map((point) => [attributesOf(point.attributes), point.as_double])).toEqual([
      [{ route: "/a", method: "GET", status: 200 }, 3],
      [{ route: "/b", method: "POST", status: 503 }, 1],
    ]);
    const [point] = sum?.data_points ?? [];
    expect(point?.start_time_unix_nano).toBeGreaterThan(0);
    expect(point?.time_unix_nano).toBeGreaterThanOrEqual(point?.start_time_unix_nano ?? Number.NaN);
  });

  // OP-99
  test("lets other work run between series that take long to read", async () => {
    await using collector = startCollector();
    const { metrics, pushed } = pushing(collector.endpoint);
    const turns = countTurns();
    const seen: number[] = [];
    function* read() {
      for (let n = 0; n < 5; n++) {
        seen.push(turns());
        const untilMs = performance.now() + 5;
        while (performance.now() < untilMs);
        yield { labels: { n }, value: n };
      }
    }
    collectedGauge(metrics.registry, { name: "slow", help: "Slow to read.", read });
    await pushed.shutdown();
    expect(named(collector, "slow")?.gauge?.data_points).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
  });

  test("leaves out metrics that have no value", async () => {
    await using collector = startCollector();
    const { metrics, pushed } = pushing(collector.endpoint);
    const registers = [metrics.registry];
    new Gauge({ name: "away", help: "None.", registers }).set(Number.NaN);
    const partly = new Gauge({ name: "partly", help: "Some.", labelNames: ["store"], registers });
    partly.set({ store: "one" }, Number.NaN);
    partly.set({ store: "other" }, 0);
    await pushed.shutdown();
    expect(named(collector, "away")).toBeUndefined();
    const points = named(collector, "partly")?.gauge?.data_points;
    expect(points?.map((point) => [attributesOf(point.attributes), point.as_double])).toEqual([
      [{ store: "other" }, 0],
    ]);
    expect((await metrics.scrape(null)).text).toMatch(/^away nan$/im);
  });

  test("counts each histogram value in its own bucket only", async () => {
    await using collector = startCollector();
    const { metrics, pushed } = pushing(collector.endpoint);
    for (const seconds of [0.001, 0.005, 0.007, 0.3, 4, 60, 61]) {
      count(metrics, { route: "/a", duration_ms: seconds * 1000 });
    }
    count(metrics, { route: "/b", duration_ms: 20 });
    await pushed.shutdown();
    const histogram = named(collector, "http_request_duration_seconds")?.histogram;
    expect(histogram?.aggregation_temporality).toBe(CUMULATIVE);
    const [a, b] = histogram?.data_points ?? [];
    expect(histogram?.data_points).toHaveLength(2);
    expect(a?.explicit_bounds).toEqual([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]);
    expect(a?.bucket_counts).toEqual([2, 1, 0, 0, 0, 0, 1, 0, 0, 1, 2]);
    expect(a?.count).toBe(7);
    expect(a?.sum).toBeCloseTo(125.313, 9);
    expect(attributesOf(a?.attributes ?? [])).toEqual({ route: "/a", method: "GET" });
    expect(b?.bucket_counts).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(attributesOf(b?.attributes ?? [])).toEqual({ route: "/b", method: "GET" });
  });
});

// OP-52
test("no metric is sent if the export is off, and the metrics can still be scraped", async () => {
  await using collector = startCollector();
  for (const [, config] of disabledConfigs(collector.endpoint)) {
    const telemetry = await createTelemetry(AUDIT, config);
    count(telemetry.metrics, { route: "/a" });
    await telemetry.close();
    expect((await telemetry.metrics.scrape(null)).text).toContain("http_requests_total");
  }
  expect(collector.requests).toEqual([]);
});
