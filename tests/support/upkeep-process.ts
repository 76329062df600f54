/**
 * A module that is loaded before a service. On SIGWINCH it writes what the process holds into a file that a
 * variable names. A signal costs the service nothing between two readings.
 */

import { heapStats } from "bun:jsc";
import { writeFileSync } from "node:fs";

const { UPKEEP_FILE: file } = process.env;

process.on("SIGWINCH", () => {
  if (file === undefined) return;
  Bun.gc(true);
  const { heapSize, objectTypeCounts } = heapStats();
  writeFileSync(file, JSON.stringify({ heap_bytes: heapSize, timers: objectTypeCounts.Timeout ?? 0 }));
});
