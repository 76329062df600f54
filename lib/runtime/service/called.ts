import type { Environment, Program } from "../config/index.ts";
import { programHelp } from "../config/index.ts";

export interface Called {
  program: Program;
  env: Environment;
  parameters?: readonly string[];
}

interface Answer {
  text: string;
  exitCode: number;
}

const EXIT_HELP = 0;
const EXIT_USAGE = 2;

/** Returns null if there are no arguments and the program must start (OP-135). */
export function answerTo(program: Program, parameters: readonly string[]): Answer | null {
  const command = `bun apps/${program.app}/main.ts`;
  const unknown = parameters.find((parameter) => !HELP.includes(parameter));
  if (unknown !== undefined) {
    const text = `Unknown argument ${JSON.stringify(unknown)}: ${command} takes its settings from the environment. --help lists them.\n`;
    return { text, exitCode: EXIT_USAGE };
  }
  if (parameters.length === 0) return null;
  return { text: `Usage: ${command} [--help]\n\n${programHelp(program)}`, exitCode: EXIT_HELP };
}

const HELP = ["--help", "-h"];
