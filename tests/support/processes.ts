import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of a process's children, for servers such as PostgreSQL that have several processes. */
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
    // State and parent follow the command name, which stands in parentheses and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0; // The process ended in between
  }
}

/** Sends a signal. Returns false when the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns whether SIGSTOP has taken effect: a server's threads stop one by one. A process that was just
 * ending stays a zombie while its parent is stopped.
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
