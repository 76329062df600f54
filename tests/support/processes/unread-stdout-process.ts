/**
 * A process that writes many log lines to a standard output that nobody reads. It prints the number of
 * dropped lines and its memory use on standard error.
 */
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { telemetryConfig } from "../telemetry/collector.ts";

const LINES = 200_000;
const telemetry = await createTelemetry({ name: "gateway", namespace: "edge" }, telemetryConfig());
const text = "x".repeat(400);
for (let turn = 0; turn < 200; turn += 1) {
  for (let line = 0; line < LINES / 200; line += 1) telemetry.log.info({ line, text }, "said");
  await Bun.sleep(1);
}
const { text: scrape } = await telemetry.metrics.scrape(null);
const dropped = Number(/^log_lines_dropped_total (\d+)$/m.exec(scrape)?.[1]);
const rss_bytes = process.memoryUsage.rss();
await telemetry.close();
process.stderr.write(JSON.stringify({ dropped, rss_bytes }));
process.exit(0);
