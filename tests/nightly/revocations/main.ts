/** Changes admissions under faults, and checks what gateways admit: `bun run nightly revocations`. */
import { parseArgs } from "node:util";
import { markdownTable } from "../bench/measure/table.ts";
import { progress, runCommand } from "../faults/command.ts";
import { RunImpossible } from "../faults/system/system.ts";
import { type Result, runRevocations } from "./run.ts";

const MINUTES = "5";
const SEED_MAX = 2 ** 31;
const HISTORIES_SHOWN_MAX = 5;

await runCommand(async () => {
  const { minutes, seed } = parametersOf(process.argv.slice(2));
  progress(`seed ${seed}`);
  const result = await runRevocations(seed, minutes * 60_000, progress);
  console.log(markdownTable(["Operation or fault", "times"], [...result.counts].sort().map(rowOf)));
  progress(summaryOf(result));
  return [
    ...result.broken.slice(0, HISTORIES_SHOWN_MAX),
    ...(result.decided > 0 ? [] : ["nothing was checked"]),
  ];
});

function rowOf([name, times]: [string, number]): string[] {
  return [name, String(times)];
}

function summaryOf({ histories, decided, cutOff, delayed, latestMs, broken }: Result): string {
  return [
    `${histories} credentials, ${decided} uses judged, ${broken.length} credentials broke the promise.`,
    `Latest use of an old admission with contact: ${Math.round(latestMs)} ms after the answer.`,
    `Uses of an old admission after two seconds: ${cutOff} without contact, ${delayed} while processes waited for a processor.`,
  ].join("\n");
}

/** @throws RunImpossible if an option is invalid */
function parametersOf(args: string[]): { minutes: number; seed: number } {
  const values = valuesOf(args);
  const [minutes, seed] = [
    Number(values.minutes),
    Number(values.seed ?? 1 + Math.floor(Math.random() * SEED_MAX)),
  ];
  if (!(minutes > 0 && seed > 0)) throw new RunImpossible("--minutes and --seed take a number above 0.");
  return { minutes, seed: Math.floor(seed) };
}

function valuesOf(args: string[]) {
  try {
    const options = { minutes: { type: "string", default: MINUTES }, seed: { type: "string" } } as const;
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new RunImpossible(error instanceof Error ? error.message : String(error));
  }
}
