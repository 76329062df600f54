import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";

/** Where a figure was taken: figures of two machines say nothing of each other. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly bun: string;
  /** Of the last minute, when the run began: above 1, others were at work. */
  readonly load_average: number;
}

export function describeMachine(): Machine {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? "unknown",
    cores: cpus().length,
    kernel: release(),
    bun: Bun.version,
    load_average: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function machineLine(machine: Machine): string {
  const { cpu, cores, kernel, bun, load_average } = machine;
  return `${cpu}, ${cores} cores, Linux ${kernel}, Bun ${bun}, load average ${load_average} at the start`;
}

/** The cores this process may run on, by number; empty where the system does not say. */
export function allowedCores(): number[] {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "";
    return list.split(",").flatMap((range) => {
      const [from = 0, to = from] = range.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
  } catch {
    return []; // no /proc: not Linux
  }
}

/** CPU time that a process has used, all its threads together, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // after the command name, which stands in parentheses and may hold anything: state is field 3, utime 14, stime 15
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

/** Memory that a process holds, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

/** The most since the process began, or since that was forgotten. */
export function residentBytesMax(pid: number): number {
  return statusBytes(pid, "VmHWM");
}

export function forgetResidentBytesMax(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function statusBytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

/** USER_HZ: 100 on every Linux that Bun runs on. */
const CLOCK_TICKS = 100;
