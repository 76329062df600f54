import { runTool } from "./tool.ts";

export function pgbench(options: readonly string[], databaseUrl: string): Promise<string> {
  return runTool(["pgbench", ...options, databaseUrl]);
}

export function transactionsPerSecond(output: string): number {
  const rate = /^tps = ([\d.]+)/m.exec(output)?.[1];
  if (rate === undefined) throw new Error(`The output of pgbench has no "tps": ${output}`);
  return Number(rate);
}
