import type { Leash } from "../support/leash.ts";
import { type Cell, nameOf } from "./cells.ts";
import { AuditLog } from "./events.ts";
import { Load } from "./load/load.ts";
import { ReachedRequests } from "./reached.ts";
import type { CellRun } from "./record.ts";
import { type Bed, NotWell, newCallers, type Pace, runCell } from "./run-cell.ts";
import { SchedulingDelay } from "./scheduling-delay.ts";
import { type Services, System } from "./system/system.ts";

export type Progress = (line: string) => void;

/** Starts the system and its load, passes them to `work`, and ends both whatever happens. */
export async function withBed<T>(
  leash: Leash,
  progress: Progress,
  work: (bed: Bed) => Promise<T>,
  services?: Services,
): Promise<T> {
  await using system = await System.start(leash, progress, services);
  const delay = new SchedulingDelay(() => system.pids());
  using _ = { [Symbol.dispose]: () => delay.stop() };
  await using log = new AuditLog(system.postgres.server.url);
  await using load = new Load(system, await newCallers(system));
  return await work({ system, load, delay, reached: new ReachedRequests(system.reached_file), log });
}

/** Runs cells one after the other. Reports each cell, and each cell that could not begin. */
export async function runCells(
  bed: Bed,
  cells: readonly Cell[],
  pace: Pace,
  done: (run: CellRun) => void,
  notBegun: (why: string) => void,
): Promise<void> {
  for (const cell of cells) {
    try {
      done(await runCell(bed, cell, pace));
    } catch (error) {
      const why = `${nameOf(cell)}: ${error instanceof Error ? error.message : error}`;
      if (!(error instanceof NotWell)) throw new Error(why, { cause: error });
      notBegun(why);
    }
  }
}
