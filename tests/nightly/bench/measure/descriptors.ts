import { readdirSync, readFileSync } from "node:fs";

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/**
 * Returns the limit of open files for this process and its children. Returns infinity if no limit is known.
 */
export function allowedDescriptors(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY; // This is not Linux
  }
}
