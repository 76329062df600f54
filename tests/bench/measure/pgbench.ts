import { runTool } from "./tool.ts";

/** Runs pgbench, and resolves with its output. */
export function pgbench(options: readonly string[], database_url: string): Promise<string> {
  return runTool(["pgbench", ...options, database_url]);
}

/** Returns the transactions a second from pgbench's output. */
export function transactionsPerSecond(output: string): number {
  const rate = /^tps = ([\d.]+)/m.exec(output)?.[1];
  if (rate === undefined) throw new Error(`pgbench gave no rate: ${output}`);
  return Number(rate);
}
