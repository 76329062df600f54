import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import type { TelemetryConfig } from "@ostiary/lib/runtime/config";
import { reportingFailures } from "../../../../lib/runtime/telemetry/otlp-export.ts";
import { Certificates } from "../../../support/http/certificates.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { GATEWAY, keptWarnings, startCollector, tracingTo } from "../../../support/telemetry/collector.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const SERVER_KIND = 2;
const UNSET = { code: 0, message: "" };

describe("a span", () => {
  // OP-52
  test("arrives at the collector as a server span with method, route and status", async () => {
    await using collector = startCollector();
    const { tracing, warnings } = await tracingTo(collector.endpoint);
    expect(tracing.enabled).toBe(true);
    const trace = tracing.start("GET", `00-${TRACE_ID}-${PARENT_ID}-01`, "vendor=1");
    trace.end({ route: "/organizations/{organization_id}", status: 200 });
    await tracing.shutdown();

    expect(collector.requests).toEqual(["POST /v1/traces application/x-protobuf"]);
    const [span] = collector.spans;
    expect(span).toMatchObject({
      name: "GET /organizations/{organization_id}",
      kind: SERVER_KIND,
      trace_id: TRACE_ID,
      span_id: trace.span_id,
      parent_span_id: PARENT_ID,
      trace_state: "vendor=1",
      status: UNSET,
    });
    expect(span?.attributes).toEqual({
      "http.request.method": "GET",
      "http.route": "/organizations/{organization_id}",
      "http.response.status_code": 200,
    });
    expect(span?.resource).toMatchObject({ "service.name": "gateway", "service.namespace": "edge" });
    expect(span?.durationNs).toBeGreaterThanOrEqual(0);
    expect(warnings).toEqual([]);
  });

  test.each<[string, number | null, string | undefined, { code: number; message: string }]>([
    ["unset on 400", 400, undefined, UNSET],
    ["unset on 499, even with a message", 499, "client left", UNSET],
    ["error on 500", 500, undefined, { code: 2, message: "" }],
    ["error on 502, with its message", 502, "upstream refused", { code: 2, message: "upstream refused" }],
    ["unset without a response", null, undefined, UNSET],
    ["error without a response but with a message", null, "broken", { code: 2, message: "broken" }],
  ])("has the status %s", async (_, status, error_message, expected) => {
    await using collector = startCollector();
    const { tracing } = await tracingTo(collector.endpoint);
    tracing.start("GET", null, null).end({ route: "/", status, error_message });
    await tracing.shutdown();
    expect(collector.spans[0]?.status).toEqual(expected);
    expect(collector.spans[0]?.attributes["http.response.status_code"]).toBe(status ?? undefined);
  });
});

describe("a collector", () => {
  test("that refuses every batch causes one warning, without the credentials of its URL", async () => {
    await using collector = startCollector(() => new Response("no", { status: 400 }));
    const { tracing, warnings } = await tracingTo(collector.endpoint.replace("//", "//user:secret@"));
    for (let sent = 0; sent < 1_100; sent++) {
      tracing.start("GET", null, null).end({ route: "/", status: 200 });
    }
    // Waits for the second batch before the shutdown, which drops all batches after the first refused one.
    await waitFor(() => collector.requests.length > 1, { what: "a second batch" });
    await tracing.shutdown();
    expect(warnings).toMatchObject([
      { message: "telemetry export failed", fields: { collector: collector.endpoint } },
    ]);
    expect(JSON.stringify(warnings)).not.toContain("secret");
  });
});

// OP-55
test("failed exports are logged at most once a minute, with their number", () => {
  const { log, warnings } = keptWarnings();
  const clock = manualClock();
  const failing = {
    export: (_: string, done: (result: { code: number; error?: Error }) => void) =>
      done({ code: 1, error: new Error("refused") }),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const exporter = reportingFailures(failing, "http://user:secret@collector:4318/v1/traces", log, clock);
  const results: number[] = [];
  const send = () => exporter.export("span", ({ code }) => results.push(code));
  send();
  for (let minute = 0; minute < 3; minute++) {
    send();
    clock.advance(59_999);
    send();
    clock.advance(1);
    send();
  }
  const refused = { collector: "http://collector:4318", error_message: "refused" };
  expect(warnings.map(({ fields }) => fields)).toEqual([
    { ...refused, failures: 1 },
    { ...refused, failures: 3 },
    { ...refused, failures: 3 },
    { ...refused, failures: 3 },
  ]);
  expect(results).toEqual(Array.from({ length: 10 }, () => 1));
});

describe("the OTEL environment variables", () => {
  const sendOne = async (endpoint: string, config: Partial<TelemetryConfig>) => {
    const { tracing, warnings } = await tracingTo(endpoint, GATEWAY, config);
    tracing.start("GET", null, null).end({ route: "/", status: 200 });
    await tracing.shutdown();
    return warnings;
  };

  test("name the CA and the client certificate of TLS, without which export fails", async () => {
    const { certFile, keyFile, cert } = new Certificates().make("collector");
    await using collector = startCollector(undefined, {
      cert,
      key: await Bun.file(keyFile).text(),
      ca: cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const shown = {
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: certFile,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: keyFile,
    };
    expect(await sendOne(collector.endpoint, { OTEL_EXPORTER_OTLP_CERTIFICATE: certFile, ...shown })).toEqual(
      [],
    );
    expect(collector.spans).toHaveLength(1);
    expect(await sendOne(collector.endpoint, shown)).toHaveLength(1);
    expect(await sendOne(collector.endpoint, { OTEL_EXPORTER_OTLP_CERTIFICATE: certFile })).toHaveLength(1);
    expect(collector.spans).toHaveLength(1);
  });
});

// OP-55
test("spans use bounded memory while the collector does not respond", async () => {
  await using silent = startCollector(() => new Promise<Response>(() => {}));
  const { tracing, warnings } = await tracingTo(silent.endpoint);
  const heapBytes = () => {
    Bun.gc(true);
    return heapStats().heapSize + heapStats().extraMemorySize;
  };
  const before = heapBytes();
  for (let count = 0; count < 60_000; count += 1) {
    const trace = tracing.start("GET", null, null);
    trace.describe({ "user_agent.original": Buffer.alloc(1_000, `${count} `).toString() });
    trace.end({ route: "/", status: 200 });
  }
  expect(heapBytes() - before).toBeLessThan(40_000_000);
  await tracing.shutdown();
  expect(warnings.length).toBeLessThanOrEqual(1);
});

describe("a process with tracing", () => {
  const child = async (args: string[], env: Record<string, string> = {}) => {
    const command = [process.execPath, "tests/support/telemetry/traced-process.ts", ...args];
    const { exitCode, stderr } = await runToEnd(command, { env: { ...process.env, ...env } });
    return { exitCode, stderr };
  };

  test("sends to the endpoint of its configuration, whatever the environment contains", async () => {
    await using collector = startCollector();
    await using other = startCollector();
    const ended = await child([collector.endpoint, "close"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: other.endpoint,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${other.endpoint}/v1/traces`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${other.endpoint}/v1/metrics`,
      OTEL_SERVICE_NAME: "other",
      OTEL_TRACES_SAMPLER: "always_off",
    });
    expect(ended).toEqual({ exitCode: 0, stderr: "" });
    expect(other.requests).toEqual([]);
    expect(collector.spans.map((span) => span.resource["service.name"])).toEqual(["gateway"]);
    expect([...collector.requests].sort()).toEqual([
      "POST /v1/metrics application/x-protobuf",
      "POST /v1/traces application/x-protobuf",
    ]);
  });
});
