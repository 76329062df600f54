import type { CellRun } from "../cell-run.ts";
import { CELLS, type Cell, isOfClock } from "../cells.ts";
import { type Bed, type Pace, runCell } from "../run-cell.ts";
import type { System } from "../system/system.ts";
import type { Held } from "./flatness.ts";
import { heldResources } from "./held-resources.ts";

const SERVICES: readonly string[] = ["identity", "audit", "gateway", "registry", "registries"];

/**
 * The cells of a soak run. Faults that kill a service are left out, because a new process cannot show a leak.
 * Clock faults are left out, because libfaketime changes what a process holds.
 */
const CELLS_OF_SOAK: readonly Cell[] = CELLS.filter((cell) => {
  const ends = cell.fault === "killed" && cell.parts.some((part) => SERVICES.includes(part));
  return !ends && !isOfClock(cell);
});

export async function soak(
  bed: Bed,
  pace: Pace,
  minutes: number,
  done: (run: CellRun) => void,
): Promise<ReadonlyMap<string, readonly Held[]>> {
  const untilMs = performance.now() + minutes * 60_000;
  const looks = new Map<string, Held[]>(bed.system.replicas().map(({ name }) => [name, []]));
  while (performance.now() < untilMs) {
    const cell = CELLS_OF_SOAK[Math.floor(Math.random() * CELLS_OF_SOAK.length)];
    if (cell === undefined) break;
    done(await runCell(bed, cell, pace));
    await lookAtAll(bed.system, looks);
  }
  return looks;
}

async function lookAtAll(system: System, looks: ReadonlyMap<string, Held[]>): Promise<void> {
  for (const replica of system.replicas()) {
    looks.get(replica.name)?.push(await heldResources(replica, system.peers));
  }
}
