import { parseArgs } from "node:util";
import { describeMachine, type Machine, machineLine } from "../bench/measure/machine.ts";
import { CELLS, type Cell, cellsNamed, isOfClock, nameOf, QUICK_CELLS } from "./cells.ts";
import { progress, runCommand } from "./command.ts";
import { type Findings, findingsOf } from "./findings.ts";
import { pageWith } from "./page.ts";
import {
  brokenPromises,
  cellTable,
  progressLine,
  promiseList,
  promiseTable,
  recoveryTable,
} from "./report.ts";
import { runCells, withBed } from "./run.ts";
import type { Bed, Pace } from "./run-cell.ts";
import { connectionTable, soakTable, whatGrew } from "./soak/report.ts";
import { soak } from "./soak/soak.ts";
import { clockLibrary } from "./system/clock.ts";
import { RunImpossible } from "./system/system.ts";

const PACE: Pace = { beforeMs: 1_500, faultMs: 4_000, wellMs: 1_500, healMsMax: 8_000 };
const QUICK: Pace = { ...PACE, faultMs: 2_500 };

await runCommand(runFaults);

async function runFaults(): Promise<readonly string[]> {
  const values = readArguments();
  const minutes = minutesOf(values.soak);
  if (minutes !== null && values.out !== undefined)
    refuse("--out writes the results of a run without --soak.");
  const pace = values.quick ? QUICK : PACE;
  const cells = cellsOf(values);
  const library = minutes === null && cells.some(isOfClock) ? clockLibrary() : null;
  const work = (bed: Bed) => (minutes === null ? runTable(bed, cells, pace) : runSoak(bed, pace, minutes));
  const result = await withBed(progress, work, undefined, library);
  if (values.out !== undefined && result.page !== undefined) await writePage(values.out, result.page);
  console.log(values.json ? JSON.stringify(result.data, null, 2) : result.text);
  return result.broken.length > 0 ? ["", "Broken promises:", ...result.broken] : [];
}

interface Result {
  /** The results as Markdown, for people. */
  readonly text: string;
  /** The summary of the results for FAULTS.md. A soak has none. */
  readonly page?: string;
  /** The results as JSON, for programs. */
  readonly data: object;
  /** A line for each broken promise, and for each cell that could not start. */
  readonly broken: readonly string[];
}

async function runTable(bed: Bed, cells: readonly Cell[], pace: Pace): Promise<Result> {
  const machine = describeMachine();
  const findings: Findings[] = [];
  const notBegun: string[] = [];
  const startedMs = performance.now();
  await runCells(
    bed,
    cells,
    pace,
    (run) => {
      const found = findingsOf(run, { timed: true });
      findings.push(found);
      progress(`${findings.length}/${cells.length} ${progressLine(found)}`);
    },
    (why) => {
      notBegun.push(why);
      progress(`  BROKEN ${why}`);
    },
  );
  const head = headOf(machine, startedMs);
  return {
    text: [head, "", promiseTable(findings), "", cellTable(findings)].join("\n"),
    page: [head, "", promiseList(findings), "", recoveryTable(findings)].join("\n"),
    data: { machine, findings, not_begun: notBegun },
    broken: [...notBegun, ...brokenPromises(findings)],
  };
}

async function runSoak(bed: Bed, pace: Pace, minutes: number): Promise<Result> {
  const machine = describeMachine();
  const findings: Findings[] = [];
  const startedMs = performance.now();
  const notBegun: string[] = [];
  const looks = await soak(
    bed,
    pace,
    minutes,
    (run) => {
      const found = findingsOf(run, { timed: true });
      findings.push(found);
      progress(`${findings.length} ${progressLine(found)}`);
    },
    (why) => notBegun.push(why),
  );
  const grew = whatGrew(looks);
  const head = headOf(machine, startedMs);
  return {
    text: [
      head,
      ...[soakTable(looks), connectionTable(looks), promiseTable(findings)].map((table) => `\n${table}`),
    ].join("\n"),
    data: { machine, looks: Object.fromEntries(looks), grew, findings },
    broken: [...notBegun, ...grew.map((line) => `flat: ${line}`), ...brokenPromises(findings)],
  };
}

function headOf(machine: Machine, startedMs: number): string {
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  return `${new Date().toISOString().slice(0, 10)}, ${minutes} minutes. ${machineLine(machine)}.`;
}

/** Returns the minutes of `--soak`, or null without this option. */
function minutesOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const minutes = Number(text);
  return minutes > 0 ? minutes : refuse("--soak must be a number of minutes above 0.");
}

function cellsOf({ quick, only }: { quick: boolean; only: string[] }): readonly Cell[] {
  if (only.length === 0) return quick ? QUICK_CELLS : possible(CELLS);
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

async function writePage(path: string, text: string): Promise<void> {
  const file = Bun.file(path);
  await Bun.write(path, pageWith((await file.exists()) ? await file.text() : "", text));
}

function readArguments() {
  try {
    const { values } = parseArgs({
      args: process.argv.slice(2),
      options: {
        only: { type: "string", multiple: true, default: [] },
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        out: { type: "string" },
        soak: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  throw new RunImpossible(message);
}
