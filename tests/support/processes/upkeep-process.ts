/**
 * A module for `bun --preload` that measures a service. On SIGWINCH, it writes the size of the heap and the
 * number of timers into the file that UPKEEP_FILE names. Between two signals, it costs the service nothing.
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
