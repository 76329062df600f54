import type { TelemetryConfig } from "../config/index.ts";

/** The OpenTelemetry `service.name` and `service.namespace` of a service. */
export interface ServiceIdentity {
  name: string;
  namespace: string;
}

/** Returns null if the export is turned off (OP-52). */
export function otlpUrl(config: TelemetryConfig, signal: "traces" | "metrics"): string | null {
  const exporter = signal === "traces" ? config.OTEL_TRACES_EXPORTER : config.OTEL_METRICS_EXPORTER;
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || config.OTEL_SDK_DISABLED || exporter !== "otlp") {
    return null;
  }
  const url = new URL(config.OTEL_EXPORTER_OTLP_ENDPOINT);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal}`;
  return url.href;
}
