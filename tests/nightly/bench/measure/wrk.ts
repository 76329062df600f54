import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { cpuSecondsOf } from "./machine.ts";
import { runTool } from "./tool.ts";

/** The target of a load: a process, and the requests to send to it. */
export interface Target {
  readonly pid: number;
  readonly url: string;
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The method of all requests; by default GET. */
  readonly method?: string;
  /** A file with one request body on each line, which are sent in rotation. */
  readonly bodies?: string;
  /** Whether the target refuses every request with an error status. By default it refuses none. */
  readonly isRefused?: boolean;
  /** The mean of the random pause before each request, in milliseconds; by default there is no pause. */
  readonly pause_ms?: number;
}

export interface Sample {
  readonly requests: number;
  readonly requests_per_second: number;
  readonly p50_ms: number;
  readonly p90_ms: number;
  readonly p99_ms: number;
  /** The CPU time that the process used, divided by the duration. 1 means that it used one core fully. */
  readonly cpu_share: number;
  /**
   * The number of requests for each second of CPU time, which does not depend on other work on the machine.
   */
  readonly requests_per_cpu_second: number;
}

export const CONNECTIONS = 64;

const report = Type.Object({
  requests: Type.Integer(),
  duration_us: Type.Integer(),
  p50_us: Type.Integer(),
  p90_us: Type.Integer(),
  p99_us: Type.Integer(),
  refused: Type.Integer(),
  broken: Type.Integer(),
});

/**
 * Runs wrk against a process for some seconds. Each connection sends its next request as soon as it has a
 * response, or after a pause.
 *
 * @throws Error if a request failed, because the figures would then be meaningless
 */
export async function load(target: Target, seconds: number, connections = CONNECTIONS): Promise<Sample> {
  const before = cpuSecondsOf(target.pid);
  const output = await wrk(target, seconds, connections);
  const cpu_seconds = cpuSecondsOf(target.pid) - before;
  const { requests, duration_us, p50_us, p90_us, p99_us, refused, broken } = Value.Parse(
    report,
    JSON.parse(output.trim().split("\n").at(-1) ?? ""),
  );
  if (broken > 0 || refused !== (target.isRefused ? requests : 0)) {
    throw new Error(
      `${target.url}: of ${requests} requests, ${refused} got an error status and ${broken} had no complete response.`,
    );
  }
  return {
    requests,
    requests_per_second: (requests / duration_us) * 1e6,
    p50_ms: p50_us / 1000,
    p90_ms: p90_us / 1000,
    p99_ms: p99_us / 1000,
    cpu_share: cpu_seconds / (duration_us / 1e6),
    requests_per_cpu_second: requests / cpu_seconds,
  };
}

function wrk(target: Target, seconds: number, connections: number): Promise<string> {
  const { url, paths, headers, method = "GET", bodies = "-", pause_ms = 0 } = target;
  const fields = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  return runTool([
    "wrk",
    ...["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`],
    ...["--script", join(import.meta.dir, pause_ms === 0 ? "wrk.lua" : "wrk-paced.lua")],
    ...fields,
    ...[url, "--", ...(pause_ms === 0 ? [] : [pause_ms.toFixed(3)]), method, bodies, ...paths],
  ]);
}
