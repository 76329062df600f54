import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { cpuSecondsOf } from "./machine.ts";
import { percentile } from "./statistics.ts";
import { runTool } from "./tool.ts";
import type { Sample, Target } from "./wrk.ts";

/** The clients that h2load simulates. */
export interface Clients {
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly connections: number;
  /** The number of concurrent requests on each connection. */
  readonly streams: number;
}

/**
 * Runs h2load against a process for some seconds, over HTTP/1.1 or over HTTP/2 without TLS.
 *
 * @throws Error if a request failed, because the figures would then be meaningless
 */
export async function loadByStreams(target: Target, seconds: number, clients: Clients): Promise<Sample> {
  const folder = temporaryFolder("h2load");
  const log = join(folder, "requests");
  const before = cpuSecondsOf(target.pid);
  const output = await runTool(command(target, seconds, clients, log));
  const cpu_seconds = cpuSecondsOf(target.pid) - before;
  const { requests, failed } = countsIn(output);
  if (failed > 0 || requests === 0) throw new Error(`${target.url}: ${failed} requests failed: ${output}`);
  const timesMs = timesIn(await Bun.file(log).text());
  return {
    requests,
    requests_per_second: requests / seconds,
    p50_ms: percentile(timesMs, 50),
    p99_ms: percentile(timesMs, 99),
    cpu_share: cpu_seconds / seconds,
    requests_per_cpu_second: requests / cpu_seconds,
  };
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

/** Parses the counts in h2load's output: the lines `requests:` and `status codes:`. */
function countsIn(output: string): { requests: number; failed: number } {
  const [, done, failed, errored, timeout] =
    /requests: .* (\d+) done, .* (\d+) failed, (\d+) errored, (\d+) timeout/.exec(output) ?? [];
  const [, ok] = /status codes: (\d+) 2xx/.exec(output) ?? [];
  if (done === undefined || ok === undefined)
    throw new Error(`The output of h2load has no counts of requests: ${output}`);
  return { requests: Number(ok), failed: Number(failed) + Number(errored) + Number(timeout) };
}

/**
 * Returns the latencies in h2load's log, in milliseconds. A line has the start time, status and latency (in
 * microseconds) of one request.
 */
function timesIn(log: string): number[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => Number(line.split("\t")[2]) / 1_000);
}
