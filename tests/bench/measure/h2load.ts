import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSeconds } from "./machine.ts";
import { percentile } from "./statistics.ts";
import { runTool } from "./tool.ts";
import type { Sample, Target } from "./wrk.ts";

/** The connections of a load, which one program makes by both protocols. */
export interface Clients {
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly connections: number;
  /** Requests at once on each connection. */
  readonly streams: number;
}

/**
 * Loads a process by HTTP/1.1 or by HTTP/2 without TLS.
 *
 * @throws Error when a request failed: such a figure means nothing
 */
export async function loadByStreams(target: Target, seconds: number, clients: Clients): Promise<Sample> {
  const folder = await mkdtemp(join(tmpdir(), "h2load-"));
  try {
    const log = join(folder, "requests");
    const before = cpuSeconds(target.pid);
    const output = await runTool(command(target, seconds, clients, log));
    const cpu_seconds = cpuSeconds(target.pid) - before;
    const { requests, failed } = countsIn(output);
    if (failed > 0 || requests === 0) throw new Error(`${target.url}: ${failed} requests failed: ${output}`);
    const times_ms = timesIn(await Bun.file(log).text());
    return {
      requests,
      requests_per_second: requests / seconds,
      p50_ms: percentile(times_ms, 50),
      p99_ms: percentile(times_ms, 99),
      cpu_share: cpu_seconds / seconds,
      requests_per_cpu_second: requests / cpu_seconds,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function command(
  { url, paths, headers }: Target,
  seconds: number,
  { protocol, connections, streams }: Clients,
  log: string,
): string[] {
  const fields = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  return [
    "h2load",
    ...["--clients", String(connections), "--max-concurrent-streams", String(streams)],
    ...["--duration", String(seconds), "--log-file", log],
    ...(protocol === "HTTP/1.1" ? ["--h1"] : []),
    ...fields,
    ...paths.map((path) => url + path),
  ];
}

/** Reads the line that begins with `requests:`, and the one with the statuses. */
function countsIn(output: string): { requests: number; failed: number } {
  const [, done, failed, errored, timeout] =
    /requests: .* (\d+) done, .* (\d+) failed, (\d+) errored, (\d+) timeout/.exec(output) ?? [];
  const [, ok] = /status codes: (\d+) 2xx/.exec(output) ?? [];
  if (done === undefined || ok === undefined)
    throw new Error(`h2load printed no counts of requests: ${output}`);
  return { requests: Number(ok), failed: Number(failed) + Number(errored) + Number(timeout) };
}

/** Each line has the start of a request, its status and its time in microseconds. */
function timesIn(log: string): number[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => Number(line.split("\t")[2]) / 1_000);
}
