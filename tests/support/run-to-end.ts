import { leash } from "./services.ts";

/** Waits for the exit of a process, and returns its exit code and everything that it wrote. */
export async function runToEnd(child: Bun.Subprocess<"ignore" | "pipe" | Uint8Array, "pipe", "pipe">) {
  leash().process(child.pid);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  leash().release(child.pid);
  return { exitCode, stdout, stderr };
}
