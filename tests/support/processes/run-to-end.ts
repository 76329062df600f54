import { ROOT } from "../root.ts";
import { leash } from "./clean-up-after-kill.ts";

interface RunOptions {
  /** The working directory; by default the root of the repository. */
  readonly cwd?: string;
  /** All environment variables; by default those of this process. */
  readonly env?: Record<string, string | undefined>;
  readonly input?: string | Uint8Array;
}

/** Runs a command until it exits, and returns its exit code and everything that it wrote. */
export async function runToEnd(command: readonly string[], options: RunOptions = {}) {
  const { cwd = ROOT, env = process.env, input } = options;
  const stdin = typeof input === "string" ? new TextEncoder().encode(input) : (input ?? "ignore");
  const child = Bun.spawn([...command], { cwd, env, stdin, stdout: "pipe", stderr: "pipe" });
  leash().process(child.pid);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  leash().release(child.pid);
  return { exitCode, stdout, stderr };
}

/** Runs a script as GitHub runs a step: with bash, which exits at the first failing command. */
export async function runBash(script: string, cwd: string, env: Record<string, string>) {
  const command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  const { exitCode, stdout, stderr } = await runToEnd(command, { cwd, env });
  return { exitCode, output: stdout + stderr };
}
