import { describe, expect, test } from "bun:test";
import type { TelemetryConfig } from "@ostiary/lib/runtime/config";
import { GATEWAY, startCollector, tracingTo } from "../../support/telemetry/collector.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";

describe("a sampler", () => {
  const UNSAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;
  const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;

  test.each<
    [TelemetryConfig["OTEL_TRACES_SAMPLER"], { fresh: boolean; sampled: boolean; unsampled: boolean }]
  >([
    ["always_on", { fresh: true, sampled: true, unsampled: true }],
    ["always_off", { fresh: false, sampled: false, unsampled: false }],
    ["parentbased_always_on", { fresh: true, sampled: true, unsampled: false }],
    ["parentbased_always_off", { fresh: false, sampled: true, unsampled: false }],
  ])("%s decides about new traces and about traces of callers", async (OTEL_TRACES_SAMPLER, expected) => {
    await using collector = startCollector();
    const { tracing } = await tracingTo(collector.endpoint, GATEWAY, { OTEL_TRACES_SAMPLER });
    const started = {
      fresh: tracing.start("GET", null, null),
      sampled: tracing.start("GET", SAMPLED, null),
      unsampled: tracing.start("GET", UNSAMPLED, null),
    };
    for (const [name, trace] of Object.entries(started)) trace.end({ route: `/${name}`, status: 200 });
    await tracing.shutdown();
    const names = Object.entries(expected).flatMap(([name, recorded]) => (recorded ? [`GET /${name}`] : []));
    expect(collector.spans.map(({ name }) => name)).toEqual(names);
    for (const [name, recorded] of Object.entries(expected)) {
      const trace = Object.entries(started).find(([each]) => each === name)?.[1];
      expect(trace?.recorded).toBe(recorded);
      expect(trace?.traceparent).toEndWith(recorded ? "-01" : "-00");
    }
  });

  test("by ratio keeps the share of new traces, and decides the same in every service", async () => {
    const config = {
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    } as const;
    const services = [
      await tracingTo("http://127.0.0.1:9", GATEWAY, config),
      await tracingTo("http://127.0.0.1:9", GATEWAY, config),
    ];
    const [first, second] = services.map(({ tracing }) => tracing);
    const traces = Array.from({ length: 4_000 }, () => first?.start("GET", null, null));
    const kept = traces.filter((trace) => trace?.recorded);
    expect(kept.length).toBeGreaterThan(800);
    expect(kept.length).toBeLessThan(1_200);
    for (const trace of traces.slice(0, 200)) {
      expect(second?.start("GET", trace?.traceparent ?? null, null).recorded).toBe(trace?.recorded ?? false);
    }
  });
});
