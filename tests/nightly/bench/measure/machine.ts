import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";
import { childrenOf } from "../../../support/processes/processes.ts";

/** The machine that a bench ran on. Figures of different machines cannot be compared. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly bun: string;
  /** The 1-minute load average at the start of the run. Above 1, other work was running. */
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

/** Returns the numbers of the CPU cores that this process may use. */
export function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "utf8");
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? "";
  return list.split(",").flatMap((range) => {
    const [from = 0, to = from] = range.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** Returns the CPU time of all threads of a process, in seconds. */
export function cpuSecondsOf(pid: number): number {
  const [user = 0, system = 0] = cpuTimes(pid);
  return user + system;
}

/**
 * Returns the CPU time of a process and its direct children, in seconds. It includes children that have
 * exited, so it suits PostgreSQL, which has one process for each connection.
 */
export function cpuSecondsWithChildren(pid: number): number {
  const sum = (seconds: readonly number[]) => seconds.reduce((total, each) => total + each, 0);
  return sum([...cpuTimes(pid), ...childrenOf(pid).map(cpuSecondsOf)]);
}

/** Returns a process's user and system time, then those of its exited children, in seconds. */
function cpuTimes(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name is in parentheses and can contain spaces and parentheses, so parse from the last ")".
  // The first field after it is field 3 (state); utime, stime, cutime and cstime are fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).map((ticks) => Number(ticks) / CLOCK_TICKS);
}

export function residentBytes(pid: number): number {
  return statusBytes(pid, "VmRSS");
}

/**
 * Returns the peak of resident memory since the process started or since `forgetResidentBytesMax`, in bytes.
 */
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

/** The number of clock ticks in a second in /proc (USER_HZ): 100 on every Linux that Bun supports. */
const CLOCK_TICKS = 100;
