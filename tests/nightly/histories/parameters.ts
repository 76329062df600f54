import { parseArgs } from "node:util";
import { RunImpossible } from "../faults/system/system.ts";
import { RECORDERS } from "./recorders/index.ts";
import type { Recorder } from "./recorders/recorder.ts";

const MINUTES = "5";
const SEED_MAX = 2 ** 31;

export interface Parameters {
  readonly minutes: number;
  readonly seed: number;
  readonly recorders: readonly Recorder[];
}

/**
 * Parses the command line of `bun run nightly histories`.
 *
 * @throws RunImpossible if an option is invalid
 */
export function parametersOf(args: string[]): Parameters {
  const values = valuesOf(args);
  return {
    minutes: numberOf("--minutes", values.minutes),
    seed: Math.floor(numberOf("--seed", values.seed ?? String(1 + Math.floor(Math.random() * SEED_MAX)))),
    recorders: recordersOf(values.only),
  };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new RunImpossible(`${name} takes a number above 0.`);
}

function recordersOf(only: readonly string[]): readonly Recorder[] {
  if (only.length === 0) return RECORDERS;
  const names = RECORDERS.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new RunImpossible(`There is no model "${unknown}". Choose one of: ${names.join(", ")}.`);
  return RECORDERS.filter(({ name }) => only.includes(name));
}

function valuesOf(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        minutes: { type: "string", default: MINUTES },
        seed: { type: "string" },
        only: { type: "string", multiple: true, default: [] },
      },
    });
    return values;
  } catch (error) {
    throw new RunImpossible(error instanceof Error ? error.message : String(error));
  }
}
