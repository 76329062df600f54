import { allowedCores } from "./machine.ts";

/** The core of each side of a measurement. */
export interface Cores {
  readonly subject: number;
  readonly load: number;
}

/** The error for a bench that cannot run here; it names what is missing. */
export class BenchImpossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BenchImpossible";
  }
}

/**
 * Moves this process, and everything that it starts, to the core of the load. Processes that `onSubjectCore`
 * starts have the other core to themselves.
 *
 * @throws BenchImpossible without two cores or `taskset`
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
