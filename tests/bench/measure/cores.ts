import { allowedCores } from "./machine.ts";

/** Which core each side of a measurement gets. */
export interface Cores {
  readonly subject: number;
  readonly load: number;
}

/** A bench that can not be run here, and what would have to be there. */
export class BenchImpossible extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BenchImpossible";
  }
}

/**
 * Moves this process, and so everything it starts, to the core of the load; what {@link onSubjectCore} starts has
 * the other core to itself.
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
