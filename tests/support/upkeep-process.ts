/**
 * Loaded before a service: on SIGWINCH it writes down what the process holds, in a file that its variables name.
 * A signal, so that between two looks it costs the service nothing.
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
