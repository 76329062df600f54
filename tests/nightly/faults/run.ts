import { ROOT } from "../../support/root.ts";
import { AuditLog } from "./audit-log.ts";
import type { CellRun } from "./cell-run.ts";
import { type Cell, nameOf } from "./cells.ts";
import { Load } from "./load/load.ts";
import { StreamReceiver } from "./load/stream-receiver.ts";
import { ReachedRequests } from "./reached-requests.ts";
import { type Bed, NotWell, newCallers, type Pace, runCell } from "./run-cell.ts";
import { SchedulingDelay } from "./scheduling-delay.ts";
import { type Progress, type Services, System } from "./system/system.ts";

/** Starts the system and the load, and passes them to `work`. Stops both afterwards, even after an error. */
export async function withBed<T>(
  progress: Progress,
  work: (bed: Bed) => Promise<T>,
  services?: Services,
  clockLibrary: string | null = null,
): Promise<T> {
  // An upgrade passes `services`, and runs without audit streams.
  using streams = services === undefined ? await StreamReceiver.start() : null;
  const auditVariables = streams?.variables ?? {};
  const own: Services = { roots: [ROOT, ROOT], variables: {}, audit: auditVariables, clockLibrary };
  await using system = await System.start(progress, services ?? own);
  const [audit] = system.audit;
  if (audit !== undefined) await streams?.subscribe(audit.url, system.people.organizations);
  using delay = new SchedulingDelay(() => system.pids());
  await using log = new AuditLog(system.postgres.server.url);
  await using load = new Load(system, await newCallers(system));
  const reached = new ReachedRequests(system.reachedFile);
  return await work({ system, load, delay, reached, log, streams });
}

/** Takes the record of each cell, and the reason why a cell could not start. */
export interface Finder {
  done(run: CellRun): void;
  notBegun(why: string): void;
}

/** Runs cells in sequence. */
export async function runCells(bed: Bed, cells: readonly Cell[], pace: Pace, finder: Finder): Promise<void> {
  for (const cell of cells) {
    try {
      finder.done(await runCell(bed, cell, pace));
    } catch (error) {
      const why = `${nameOf(cell)}: ${error instanceof Error ? error.message : error}`;
      if (!(error instanceof NotWell)) throw new Error(why, { cause: error });
      finder.notBegun(why);
    }
  }
}
