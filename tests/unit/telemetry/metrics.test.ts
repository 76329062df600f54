import { describe, expect, test } from "bun:test";
import { createMetrics, DurationHistogram } from "@ostiary/lib/runtime/telemetry";

async function lines(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  return (await metrics.scrape(null)).text.split("\n").filter((line) => line.startsWith(name));
}

/** Returns the bounds of the buckets in these lines, in order. */
function buckets(found: string[]): string {
  return found.flatMap((line) => line.match(/le="([^"]+)"/)?.[1] ?? []).join(" ");
}

describe("every service's metrics", () => {
  // OP-47
  test("count requests and their duration by route, method and status", async () => {
    const metrics = createMetrics();
    metrics.requests.series("/a/{b}", "GET").observe(200, 20);
    expect(await lines(metrics, "http_requests_total")).toEqual([
      'http_requests_total{route="/a/{b}",method="GET",status="200"} 1',
    ]);
    expect(buckets(await lines(metrics, "http_request_duration_seconds_bucket"))).toBe(
      "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 +Inf",
    );
    expect(await lines(metrics, "http_request_duration_seconds_count")).toEqual([
      'http_request_duration_seconds_count{route="/a/{b}",method="GET"} 1',
    ]);
  });

  // OP-48
  test("count store operations and failures, with their durations in seconds", async () => {
    const metrics = createMetrics();
    const operation = { system: "postgresql", operation: "select_member", namespace: "identity" };
    metrics.observeStore({ ...operation, duration_ms: 20, failed: false });
    metrics.observeStore({ ...operation, duration_ms: 30, failed: true });
    const labels = 'db_system_name="postgresql",db_operation_name="select_member",db_namespace="identity"';
    expect(await lines(metrics, "db_operation_errors_total")).toHaveLength(1);
    metrics.observeStore({ ...operation, namespace: "routes", duration_ms: 1, failed: false });
    expect(await lines(metrics, "db_operations_total")).toEqual([
      `db_operations_total{${labels}} 2`,
      `db_operations_total{${labels.replace("identity", "routes")}} 1`,
    ]);
    expect(await lines(metrics, "db_operation_errors_total")).toEqual([
      `db_operation_errors_total{${labels}} 1`,
    ]);
    expect(await lines(metrics, "db_operation_duration_seconds_sum")).toEqual([
      `db_operation_duration_seconds_sum{${labels}} 0.05`,
      `db_operation_duration_seconds_sum{${labels.replace("identity", "routes")}} 0.001`,
    ]);
    const durations = (await lines(metrics, "db_operation_duration_seconds_bucket")).slice(0, 10);
    expect(buckets(durations)).toBe("0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 +Inf");
  });

  // OP-49
  test("show the process's memory, CPU time and start", async () => {
    const metrics = createMetrics();
    const value = async (name: string) => Number((await lines(metrics, `${name} `))[0]?.split(" ")[1]);
    expect(await value("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
    expect(await value("process_start_time_seconds")).toBe(Math.round(performance.timeOrigin / 1000));
    const cpu = await value("process_cpu_seconds_total");
    expect(cpu).toBeGreaterThan(0);
    expect(await value("process_cpu_seconds_total")).toBeGreaterThanOrEqual(cpu);
  });

  // OP-46
  test("are served as OpenMetrics with trace ids as exemplars, together with histograms without exemplars", async () => {
    const metrics = createMetrics();
    const trace_id = "0af7651916cd43dd8448eb211c80319c";
    metrics.requests.series("/a", "GET").observe(200, 20, trace_id);
    const registers = [metrics.registry];
    const plain = new DurationHistogram({ name: "plain_seconds", help: "Plain.", buckets: [1], registers });
    plain.series({}).observe(2);
    const { text, contentType } = await metrics.scrape("application/openmetrics-text");
    expect(contentType).toContain("openmetrics");
    expect(text).toMatch(
      /^http_request_duration_seconds_bucket\{le="0.025",route="\/a",method="GET"\} 1 # \{trace_id="0af7651916cd43dd8448eb211c80319c"\} 0\.02 \d+(\.\d+)?$/m,
    );
    expect(text).toContain('plain_seconds_bucket{le="+Inf"} 1\n');
    expect((await metrics.scrape(null)).text).not.toContain(trace_id);
  });

  // OP-99
  test("of 20 000 series are written while other work runs", async () => {
    const metrics = createMetrics();
    for (let route = 0; route < 10_000; route++) {
      for (const method of ["GET", "POST"]) {
        metrics.requests.series(`/service/${route}/{id}`, method).observe(200, 7);
      }
    }
    for (const accept of [null, "application/openmetrics-text"]) {
      let turns = 0;
      const timer = setInterval(() => turns++, 0);
      const { text } = await metrics.scrape(accept);
      clearInterval(timer);
      expect(text.match(/^http_request_duration_seconds_count/gm)).toHaveLength(20_000);
      expect(turns).toBeGreaterThan(10);
    }
  });
});
