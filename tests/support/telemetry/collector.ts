import { loadConfig, type TelemetryConfig, telemetryVariables } from "@ostiary/lib/runtime/config";
import { createTracing, type Logger } from "@ostiary/lib/runtime/telemetry";
import { Type } from "@sinclair/typebox";
import { decodeMetrics, decodeSpans, type ReceivedMetric, type ReceivedSpan } from "./otlp-messages.ts";

/** An OTLP collector on a free port, which records everything that it receives. */
export interface Collector extends AsyncDisposable {
  readonly endpoint: string;
  /** `METHOD path content-type` of each request. */
  readonly requests: readonly string[];
  readonly headers: readonly Headers[];
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: readonly ReceivedMetric[];
  /** Resolves once the collector has received this many requests since its start. */
  received(count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a collector. `respond` returns each response, by default 200 without a body. With `tls`, the
 * collector serves HTTPS.
 */
export function startCollector(
  respond: () => Response | Promise<Response> = () => new Response(),
  tls?: Bun.TLSOptions,
): Collector {
  const requests: string[] = [];
  const headers: Headers[] = [];
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const waiting = new Set<{ count: number; resolve(): void }>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const sent = await request.bytes();
      const body =
        request.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(new Uint8Array(sent)) : sent;
      headers.push(request.headers);
      if (pathname.endsWith("/v1/traces")) spans.push(...decodeSpans(body));
      if (pathname.endsWith("/v1/metrics")) metrics.push(...decodeMetrics(body));
      requests.push(`${request.method} ${pathname} ${request.headers.get("content-type")}`);
      for (const wait of waiting) if (requests.length >= wait.count) wait.resolve();
      return respond();
    },
  });
  const stop = () => server.stop(true);
  return {
    endpoint: `${tls === undefined ? "http" : "https"}://127.0.0.1:${server.port}`,
    requests,
    headers,
    spans,
    metrics,
    received(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (requests.length >= count) resolve();
      waiting.add({ count, resolve });
      return promise;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export function telemetryConfig(changes: Partial<TelemetryConfig> = {}): TelemetryConfig {
  return { ...loadConfig(Type.Object(telemetryVariables), {}), ...changes };
}

/**
 * Returns each configuration that disables exports although a collector listens at `endpoint`, with its name.
 */
export function disabledConfigs(endpoint: string): [string, TelemetryConfig][] {
  const OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
  return [
    ["no endpoint is set", telemetryConfig()],
    [
      "the exporters are none",
      telemetryConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT,
        OTEL_TRACES_EXPORTER: "none",
        OTEL_METRICS_EXPORTER: "none",
      }),
    ],
    ["the SDK is disabled", telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: true })],
  ];
}

/** Returns a logger with the list of the warnings that it has logged. */
export function keptWarnings(): { log: Logger; warnings: { message: string; fields: object }[] } {
  const warnings: { message: string; fields: object }[] = [];
  const ignore = () => {};
  return {
    warnings,
    log: {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (fields, message) => void warnings.push({ message, fields }),
    },
  };
}

export const GATEWAY = { name: "gateway", namespace: "edge" };

/** Returns a service's tracing that exports to the collector at `endpoint`, with the list of its warnings. */
export async function tracingTo(endpoint: string, service = GATEWAY, config: Partial<TelemetryConfig> = {}) {
  const { log, warnings } = keptWarnings();
  const tracing = await createTracing(
    service,
    telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...config }),
    log,
  );
  return { tracing, warnings };
}
