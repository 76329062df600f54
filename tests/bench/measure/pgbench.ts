/** Runs pgbench; resolves with its output. */
export async function pgbench(options: readonly string[], database_url: string): Promise<string> {
  const child = Bun.spawn(["pgbench", ...options, database_url], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`pgbench ended with ${code}: ${errors}${output}`);
  return output;
}

/** The rate that a run of pgbench printed, a second. */
export function transactionsPerSecond(output: string): number {
  const rate = /^tps = ([\d.]+)/m.exec(output)?.[1];
  if (rate === undefined) throw new Error(`pgbench gave no rate: ${output}`);
  return Number(rate);
}
