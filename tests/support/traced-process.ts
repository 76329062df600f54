import { createTelemetry } from "@ostiary/lib/runtime/telemetry";

/** A process that traces one request. Its arguments: the collector's endpoint, and `close` to end in order. */
const [endpoint, close] = process.argv.slice(2);
const telemetry = createTelemetry(
  { name: "gateway", namespace: "edge" },
  {
    LOG_LEVEL: "info",
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_SDK_DISABLED: false,
  },
);
telemetry.tracing.start("GET", null, null).end({ route: "/things", status: 200 });
if (close === "close") await telemetry.close();
