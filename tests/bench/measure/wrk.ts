import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { cpuSeconds } from "./machine.ts";
import { runTool } from "./tool.ts";

/** A process that answers requests, as the target of a load. */
export interface Target {
  readonly pid: number;
  readonly url: string;
  /** The paths that are called in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The method; by default GET. */
  readonly method?: string;
  /** A file with a request body on each line; the bodies are sent in turn. */
  readonly bodies?: string;
}

/** One measurement. */
export interface Sample {
  readonly requests: number;
  readonly requests_per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** The share of its core that the process used: less than all when something else held it up. */
  readonly cpu_share: number;
  /** The requests for each second of CPU time: the cost of the process, independent of other work. */
  readonly requests_per_cpu_second: number;
}

export const CONNECTIONS = 64;

const report = Type.Object({
  requests: Type.Integer(),
  duration_us: Type.Integer(),
  p50_us: Type.Integer(),
  p99_us: Type.Integer(),
  refused: Type.Integer(),
  broken: Type.Integer(),
});

/**
 * Loads a process with as many requests as it can answer over this many connections, by default 64.
 *
 * @throws Error when a request was refused or broke off: such a figure means nothing
 */
export async function load(target: Target, seconds: number, connections = CONNECTIONS): Promise<Sample> {
  const before = cpuSeconds(target.pid);
  const output = await wrk(target, seconds, connections);
  const cpu_seconds = cpuSeconds(target.pid) - before;
  const { requests, duration_us, p50_us, p99_us, refused, broken } = Value.Parse(
    report,
    JSON.parse(output.trim().split("\n").at(-1) ?? ""),
  );
  if (refused + broken > 0) {
    throw new Error(`${target.url}: ${refused} of ${requests} requests were refused, ${broken} broke off.`);
  }
  return {
    requests,
    requests_per_second: (requests / duration_us) * 1e6,
    p50_ms: p50_us / 1000,
    p99_ms: p99_us / 1000,
    cpu_share: cpu_seconds / (duration_us / 1e6),
    requests_per_cpu_second: requests / cpu_seconds,
  };
}

function wrk(target: Target, seconds: number, connections: number): Promise<string> {
  const { url, paths, headers, method = "GET", bodies = "-" } = target;
  const fields = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  return runTool([
    "wrk",
    ...["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`],
    ...["--script", join(import.meta.dir, "wrk.lua")],
    ...fields,
    ...[url, "--", method, bodies, ...paths],
  ]);
}
