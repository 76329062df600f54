import { createTelemetry } from "@ostiary/lib/telemetry";
import { telemetryConfig } from "./collector.ts";

/** A process that traces one request: `endpoint` and whether it closes its telemetry are its arguments. */
const [endpoint, close] = process.argv.slice(2);
const telemetry = createTelemetry(
  { name: "gateway", namespace: "edge" },
  telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
);
telemetry.tracing.start("GET", null, null).end({ route: "/things", status: 200 });
if (close === "close") await telemetry.close();
