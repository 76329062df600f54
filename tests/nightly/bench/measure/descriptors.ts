import { readdirSync, readFileSync } from "node:fs";

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Returns the limit of open files for this process and its children. */
export function allowedDescriptors(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
}
