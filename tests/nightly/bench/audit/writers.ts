import { join } from "node:path";
import type { AuditIntent } from "@ostiary/lib/contracts/audit";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { pgbench, transactionsPerSecond } from "../measure/pgbench.ts";
import { runTool } from "../measure/tool.ts";

/** The result of one measurement of writes. */
export interface WriteSample {
  readonly writes_per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

const wrkReport = Type.Object({
  writes: Type.Integer(),
  duration_us: Type.Integer(),
  p50_us: Type.Integer(),
  p99_us: Type.Integer(),
  failed: Type.Integer(),
});

export const exampleIntent: AuditIntent = {
  occurred_at: new Date().toISOString(),
  organization_id: "organization-1",
  user_id: null,
  actor: { member_id: "member-1", auth_type: "member_apikey", key_prefix: "ostiary-k-2-abcd" },
  service: "widgets",
  method: "POST",
  route: "/org/widgets/{widget_id}",
  params: { widget_id: "widget-1" },
  ip: "192.0.2.1",
  user_agent: "bench/1.0",
};

/**
 * Writes intents over HTTP from concurrent clients. Each client sends its next intent when the response to
 * its last one arrives.
 *
 * @throws Error if any write failed, because the rate would then be meaningless
 */
export async function writeIntents(
  internalUrl: string,
  clients: number,
  seconds: number,
): Promise<WriteSample> {
  const script = join(import.meta.dir, "intents.lua");
  const prefix = crypto.randomUUID();
  const output = await runTool([
    "wrk",
    ...["--threads", "1", "--connections", String(clients), "--duration", `${seconds}s`, "--script", script],
    ...[internalUrl, "--", prefix, JSON.stringify(exampleIntent)],
  ]);
  const report = Value.Parse(wrkReport, JSON.parse(output.trim().split("\n").at(-1) ?? ""));
  if (report.failed > 0) throw new Error(`${report.failed} of ${report.writes} intents were not written.`);
  return {
    writes_per_second: (report.writes / report.duration_us) * 1e6,
    p50_ms: report.p50_us / 1000,
    p99_ms: report.p99_us / 1000,
  };
}

/** Runs pgbench, which inserts rows into the table of audit events, one row in each transaction. */
export async function insertRows(
  databaseUrl: string,
  directory: string,
  clients: number,
  seconds: number,
): Promise<WriteSample> {
  const log = join(directory, `pgbench-${crypto.randomUUID()}`);
  const output = await pgbench(
    [
      ...["--no-vacuum", "--protocol", "prepared", "--client", String(clients), "--time", String(seconds)],
      ...["--log", "--log-prefix", log, "--file", join(import.meta.dir, "insert.sql")],
    ],
    databaseUrl,
  );
  return { writes_per_second: transactionsPerSecond(output), ...(await latencies(log)) };
}

/**
 * Reads the latencies from pgbench's log. The log has one line for each transaction; the third field is the
 * transaction's latency in microseconds.
 */
async function latencies(prefix: string): Promise<{ p50_ms: number; p99_ms: number }> {
  const [path] = await Array.fromAsync(new Bun.Glob(`${prefix}.*`).scan({ absolute: true, cwd: "/" }));
  if (path === undefined) throw new Error("pgbench wrote no log.");
  const takenUs = (await Bun.file(path).text())
    .trim()
    .split("\n")
    .map((line) => Number(line.split(" ")[2]))
    .sort((a, b) => a - b);
  const percentileMs = (part: number) => (takenUs[Math.floor(takenUs.length * part)] ?? 0) / 1000;
  return { p50_ms: percentileMs(0.5), p99_ms: percentileMs(0.99) };
}
