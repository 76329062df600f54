import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of a process's child processes. PostgreSQL, for example, has several. */
export function childrenOf(parent: number): number[] {
  return parentsByPid()
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => pid);
}

function parentsByPid(): [pid: number, ppid: number][] {
  if (process.platform !== "linux") {
    const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]);
    return stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number))
      .map(([pid = 0, ppid = 0]) => [pid, ppid]);
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)]);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The state and the parent follow the command name in parentheses, which may itself contain parentheses.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0; // The process has ended since the listing
  }
}

/** Sends a signal to a process. Returns false when the process does not exist. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a process that this process started has exited. The exit code stays null after a signal. */
export function hasExited({ exitCode, signalCode }: Bun.Subprocess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Returns whether SIGSTOP has stopped all threads of a process, which stop one by one. On Linux, a zombie counts
 * as stopped, because a process that ends while its parent is stopped remains a zombie.
 */
export function isStopped(pid: number): boolean {
  if (process.platform !== "linux") {
    return Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
      .stdout.toString()
      .startsWith("T");
  }
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return /^[TZ]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  });
}
