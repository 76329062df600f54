import { allowedCores } from "./machine.ts";

/** The CPU cores of a measurement: one runs the subject, the other one the load and everything else. */
export interface Cores {
  readonly subject: number;
  readonly load: number;
}

/** The error for a bench that cannot run on this machine. The message says what is missing. */
export class BenchImpossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BenchImpossible";
  }
}

/**
 * Pins this process, and every process that it starts later, to the load's core. Commands of `onSubjectCore`
 * run on the other core.
 *
 * @throws BenchImpossible if there are not two cores, or if `taskset` is missing
 */
export function divideCores(): Cores {
  const [subject, load] = allowedCores();
  if (subject === undefined || load === undefined || Bun.which("taskset") === null) {
    throw new BenchImpossible("This bench needs Linux, two cores and taskset (package util-linux).");
  }
  Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", String(load), String(process.pid)]);
  return { subject, load };
}

export function onSubjectCore(cores: Cores, command: readonly string[]): string[] {
  return ["taskset", "--cpu-list", String(cores.subject), ...command];
}
