/**
 * A process that uses up its file descriptors, and then prints whether its metrics still have the resident
 * memory.
 */
import { openSync, writeSync } from "node:fs";
import { createMetrics } from "@ostiary/lib/runtime/telemetry";

const metrics = createMetrics();
await metrics.scrape(null);
for (let isFree = true; isFree; ) {
  try {
    openSync("/dev/null", "r");
  } catch {
    isFree = false;
  }
}
const { text } = await metrics.scrape(null);
writeSync(1, `${/^process_resident_memory_bytes [1-9]/m.test(text)}`);
process.exit(0);
