import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { telemetryConfig } from "./collector.ts";

/**
 * A process that traces one request. Its arguments are the collector's endpoint, and `close` to end in order.
 */
const [endpoint, close] = process.argv.slice(2);
const telemetry = await createTelemetry(
  { name: "gateway", namespace: "edge" },
  telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
);
telemetry.tracing.start("GET", null, null).end({ route: "/things", status: 200 });
if (close === "close") await telemetry.close();
