import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { errorCode } from "@ostiary/lib/domain/errors";

/** What a process holds at a moment, and what it may hold. Infinite where the system does not say. */
export interface ProcessReadings {
  memory_bytes(): number;
  /** Gives back what nothing refers to any more; takes some tens of milliseconds. */
  collect(): void;
  /** Open files and connections; on a system that does not count them perhaps fewer, never more. */
  descriptors(): number;
  readonly memory_bytes_max: number;
  readonly descriptors_max: number;
}

/** Those of this process. */
export function processReadings(): ProcessReadings {
  return {
    memory_bytes: () => process.memoryUsage.rss(),
    collect: () => Bun.gc(true),
    descriptors: () => countedDescriptors() || lowestFreeDescriptor(),
    memory_bytes_max: allowedMemory(),
    descriptors_max: allowedDescriptors(),
  };
}

/** Linux counts them since 6.2, in 3 µs however many there are; 0 where nobody does. */
function countedDescriptors(): number {
  return statSync("/proc/self/fd", { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The number that the next descriptor gets, which is the lowest that is free: all below are in use. One that was
 * closed among them hides those above it. To list them would take as long as there are many; this takes 5 µs.
 */
function lowestFreeDescriptor(): number {
  try {
    const descriptor = openSync("/dev/null", "r");
    closeSync(descriptor);
    return descriptor;
  } catch (error) {
    return errorCode(error) === "EMFILE" || errorCode(error) === "ENFILE" ? Number.POSITIVE_INFINITY : 0;
  }
}

/** That of the container where there is one, else of the machine. */
function allowedMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** The soft limit; the runtime has raised it to the hard one at its start. */
function allowedDescriptors(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const [, soft = ""] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
    return soft === "" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
}
