import { RunImpossible } from "../../support/run-impossible.ts";
import { describeMachine, machineLine } from "../bench/measure/machine.ts";
import { withPart } from "../bench/measure/page-part.ts";
import { type CellSummary, summaryOf } from "./cell-summary.ts";
import { CELLS, type Cell, cellsNamed, isOfClock, nameOf } from "./cells.ts";
import { argumentsOf, progress, runCommand } from "./command.ts";
import { brokenPromises, progressLine, promiseList, recoveryTable } from "./report.ts";
import { withBed } from "./run.ts";
import { type Bed, type Pace, runCell } from "./run-cell.ts";
import { soakTable, whatGrew } from "./soak/flatness.ts";
import { soak } from "./soak/soak.ts";
import { clockLibrary } from "./system/clock.ts";

const PACE: Pace = { beforeMs: 1_500, faultMs: 4_000, wellMs: 1_500, healMsMax: 8_000 };

await runCommand(runFaults);

async function runFaults(): Promise<readonly string[]> {
  const { only, out, soak } = argumentsOf({
    only: { type: "string", multiple: true, default: [] },
    out: { type: "string" },
    soak: { type: "string" },
  }).values;
  const minutes = minutesOf(soak);
  if (minutes !== null && out !== undefined) refuse("--out writes the results of a run without --soak.");
  const cells = cellsOf(only);
  const library = minutes === null && cells.some(isOfClock) ? clockLibrary() : null;
  const head = `${new Date().toISOString().slice(0, 10)}. ${machineLine(describeMachine())}.`;
  const work = (bed: Bed) => (minutes === null ? runTable(bed, cells) : runSoak(bed, minutes));
  const { text, broken } = await withBed(progress, work, undefined, library);
  const page = `${head}\n\n${text}`;
  if (out !== undefined) await Bun.write(out, withPart(await Bun.file(out).text(), "results", page));
  console.log(page);
  return broken.length > 0 ? ["", "Broken promises:", ...broken] : [];
}

interface Result {
  readonly text: string;
  readonly broken: readonly string[];
}

async function runTable(bed: Bed, cells: readonly Cell[]): Promise<Result> {
  const summaries: CellSummary[] = [];
  for (const cell of cells) {
    const found = summaryOf(await runCell(bed, cell, PACE));
    progress(`${summaries.push(found)}/${cells.length} ${progressLine(found)}`);
  }
  const text = `${promiseList(summaries)}\n\n${recoveryTable(summaries)}`;
  return { text, broken: brokenPromises(summaries) };
}

async function runSoak(bed: Bed, minutes: number): Promise<Result> {
  const summaries: CellSummary[] = [];
  const looks = await soak(bed, PACE, minutes, (run) => {
    const found = summaryOf(run);
    progress(`${summaries.push(found)} ${progressLine(found)}`);
  });
  const grew = whatGrew(looks).map((line) => `flat: ${line}`);
  const text = `${soakTable(looks)}\n\n${promiseList(summaries)}`;
  return { text, broken: [...grew, ...brokenPromises(summaries)] };
}

function minutesOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const minutes = Number(text);
  return minutes > 0 ? minutes : refuse("--soak must be a number of minutes above 0.");
}

function cellsOf(only: readonly string[]): readonly Cell[] {
  if (only.length === 0) return possible(CELLS);
  const chosen = only.flatMap((wanted) => {
    const cells = cellsNamed(wanted);
    return cells.length > 0 ? cells : refuse(`There is no fault "${wanted}". Choose one of:\n${allNames()}`);
  });
  return possible([...new Set(chosen)]);
}

/** Returns the cells that can run here. Prints the ones that cannot, which need libfaketime. */
function possible(cells: readonly Cell[]): readonly Cell[] {
  const ofClocks = cells.filter(isOfClock);
  if (ofClocks.length === 0 || clockLibrary() !== null) return cells;
  const names = ofClocks.map(nameOf).join(", ");
  const why = "Clock faults need libfaketime: install the package faketime.";
  if (ofClocks.length === cells.length) return refuse(`These faults cannot run here: ${names}. ${why}`);
  progress(`skipped: ${names}. ${why}`);
  return cells.filter((cell) => !isOfClock(cell));
}

function allNames(): string {
  return CELLS.map((cell) => `  ${nameOf(cell)}`).join("\n");
}

function refuse(message: string): never {
  throw new RunImpossible(message);
}
