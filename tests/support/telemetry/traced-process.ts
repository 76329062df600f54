/**
 * A process that traces one request. Its first argument is the endpoint of a collector. If the second
 * argument is `close`, the process closes its telemetry before it exits.
 */
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { telemetryConfig } from "./collector.ts";

const [endpoint, close] = process.argv.slice(2);
const telemetry = await createTelemetry(
  { name: "gateway", namespace: "edge" },
  telemetryConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
);
telemetry.tracing.start("GET", null, null).end({ route: "/things", status: 200 });
if (close === "close") await telemetry.close();
