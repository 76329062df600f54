import { readdir } from "node:fs/promises";
import type { Registry } from "prom-client";
import { systemClock } from "../../async/index.ts";
import { VERSION } from "../version.ts";
import { collectedCounter, collectedGauge } from "./collected-metrics.ts";
import { DurationHistogram } from "./duration-histogram.ts";

const DELAY_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const DELAY_INTERVAL_MS = 100;

export function addProcessMetrics(registry: Registry): void {
  collectedGauge(registry, {
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    read: residentMemory(),
  });
  collectedGauge(registry, {
    name: "process_start_time_seconds",
    help: "Start time of the process, in seconds since the Unix epoch.",
    read: () => Math.round(performance.timeOrigin / 1000),
  });
  collectedCounter(registry, {
    name: "process_cpu_seconds_total",
    help: "CPU time that the process spent in user and system mode, in seconds.",
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  collectedGauge(registry, {
    name: "process_open_fds",
    help: "Open file descriptors, including connections; on Linux only.",
    read: openDescriptors,
  });
  collectedGauge(registry, {
    name: "ostiary_build_info",
    help: "Always 1; the labels name the versions of Ostiary and of the runtime.",
    read: () => [{ labels: { version: VERSION, runtime: "bun", runtime_version: Bun.version }, value: 1 }],
  });
}

async function openDescriptors() {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch {
    return []; // not Linux
  }
}

/** Returns a function that stops the measurement. */
export function watchEventLoop(registry: Registry): () => void {
  const delays = new DurationHistogram({
    name: "event_loop_delay_seconds",
    help: "Seconds by which the event loop ran a timer too late, measured ten times a second.",
    buckets: DELAY_BUCKETS_SECONDS,
    registers: [registry],
  }).series({});
  let dueMs = systemClock.elapsedMs() + DELAY_INTERVAL_MS;
  const timer = setInterval(() => {
    const nowMs = systemClock.elapsedMs();
    delays.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + DELAY_INTERVAL_MS;
  }, DELAY_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Reading the memory needs a file descriptor. While none is free, the previous value is returned. */
export function residentMemory(): () => number {
  let last = 0;
  return () => {
    try {
      last = process.memoryUsage.rss();
    } catch {
      // No descriptor is free. The runtime's error has no code to check.
    }
    return last;
  };
}
