import { parseArgs } from "node:util";
import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { describeMachine, machineLine } from "../bench/measure/machine.ts";
import { Leash } from "../support/leash.ts";
import { CELLS, type Cell, cellsNamed, nameOf, QUICK_CELLS } from "./cells.ts";
import { type Findings, findingsOf } from "./findings.ts";
import { pageWith } from "./page.ts";
import { brokenPromises, cellTable, progressLine, promiseTable } from "./report.ts";
import { runCells, withBed } from "./run.ts";
import type { Pace } from "./run-cell.ts";
import { RunImpossible } from "./system/system.ts";

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

const PACE: Pace = { before_ms: 1_500, fault_ms: 4_000, well_ms: 1_500, heal_ms_max: 8_000 };
const QUICK: Pace = { ...PACE, fault_ms: 2_500 };

// clients wait for services that hang, more of them than the runtime allows by itself
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  const values = readArguments();
  const cells = cellsOf(values);
  const machine = describeMachine();
  const progress = (line: string) => console.error(line);
  const findings: Findings[] = [];
  const started_ms = performance.now();
  // whatever way this process ends, the leash ends what it started
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  await withBed(new Leash(), progress, (bed) =>
    runCells(bed, cells, values.quick ? QUICK : PACE, (run, index) => {
      const found = findingsOf(run, { timed: true });
      findings.push(found);
      progress(`${index + 1}/${cells.length} ${progressLine(found)}`);
    }),
  ).catch((error) => (error instanceof RunImpossible ? refuse(error.message) : Promise.reject(error)));
  const minutes = ((performance.now() - started_ms) / 60_000).toFixed(1);
  const when = `${new Date().toISOString().slice(0, 10)}, ${minutes} minutes. ${machineLine(machine)}.`;
  const text = [when, "", promiseTable(findings), "", cellTable(findings)].join("\n");
  if (values.out !== undefined) await writePage(values.out, text);
  console.log(values.json ? JSON.stringify({ machine, findings }, null, 2) : text);
  const broken = brokenPromises(findings);
  if (broken.length > 0) console.error(["", "Broken promises:", ...broken].join("\n"));
  process.exit(broken.length > 0 ? EXIT_BROKEN : 0);
}

function cellsOf({ quick, only }: { quick: boolean; only: string[] }): readonly Cell[] {
  if (only.length === 0) return quick ? QUICK_CELLS : CELLS;
  const chosen = only.flatMap((wanted) => {
    const cells = cellsNamed(wanted);
    return cells.length > 0 ? cells : refuse(`There is no fault "${wanted}". There are:\n${allNames()}`);
  });
  return [...new Set(chosen)];
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
  console.error(message);
  process.exit(EXIT_USAGE);
}
