/** Runs a program until it exits, and returns its output. Rejects if the exit code is not 0. */
export async function runTool(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command[0]} exited with code ${code}: ${errors}${output}`);
  return output;
}
