import {
  NotWitnessKeys,
  readWitnessKeys,
  type WitnessCosignature,
  type WitnessRule,
} from "@ostiary/lib/verification";
import type { Command } from "commander";
import { wholeNumber } from "../commands/command.ts";
import { UsageError } from "../exit-codes.ts";
import { textOf } from "./files.ts";

/** The options that name witnesses and the log. */
export interface WitnessOptions {
  witnessKeys?: string;
  quorum?: number;
  origin?: string;
}

/** Adds `--quorum` and `--origin`. */
export function addQuorumAndOrigin(command: Command): Command {
  return command
    .option(
      "--quorum <number>",
      "how many of the witnesses must have cosigned (default all)",
      wholeNumber(999),
    )
    .option("--origin <name>", "the name that the log must have, such as audit.example.com/log");
}

/** Returns the witnesses whose keys are in a file, and the quorum. The default quorum is the number of keys. */
export async function witnessRule(keysFile: string, givenQuorum: number | undefined): Promise<WitnessRule> {
  const keys = keysOf(keysFile, await textOf(keysFile));
  const { quorum = keys.length } = { quorum: givenQuorum };
  if (quorum > keys.length) {
    throw new UsageError(
      `--quorum is ${quorum}, but ${keysFile} has ${keys.length} keys: lower --quorum, or add keys.`,
    );
  }
  return { keys, quorum, nowMs: Date.now() };
}

function keysOf(file: string, text: string): WitnessRule["keys"] {
  try {
    return readWitnessKeys(text);
  } catch (error) {
    if (!(error instanceof NotWitnessKeys)) throw error;
    throw new UsageError(`${file}${error.line === 0 ? "" : ` line ${error.line}`} ${error.message}.`);
  }
}

/** Returns a line for each witness. */
export function witnessLines(witnesses: readonly WitnessCosignature[]): string[] {
  return witnesses.map(
    ({ name, cosigned_at }) => `  witness      ${name}, ${cosigned_at ?? "no cosignature"}`,
  );
}
