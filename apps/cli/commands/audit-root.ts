import {
  type CosignedRoot,
  checkCosignedRoot,
  NotWitnessKeys,
  readWitnessKeys,
} from "@ostiary/lib/verification";
import { type Command, InvalidArgumentError } from "commander";
import { Refused, UsageError } from "../errors.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { textOf } from "../verify/files.ts";

interface RootOptions {
  witnessKeys: string;
  quorum?: number;
  origin?: string;
}

/** Adds `audit root FILE`, which says who cosigned a signed root of a log, and when. */
export function addAuditRoot(program: Command, audit: Command, terminal: Terminal): void {
  audit
    .command("root")
    .description("Say which witnesses cosigned a signed root of a log, and when, without calling a service")
    .argument("<file>", "a signed root, as GET /audit-log/checkpoint gives it, or - for standard input")
    .requiredOption("--witness-keys <file>", "the verifier keys of the witnesses, one on each line")
    .option("--quorum <number>", "how many of them must have cosigned (default all)", quorumArgument)
    .option("--origin <name>", "the name that the log must have")
    .addHelpText(
      "after",
      `
Examples:
  $ curl -s https://api.example.com/audit-log/checkpoint > root.txt
  $ bun cli audit root root.txt --witness-keys witnesses.txt --quorum 2 --origin audit.example.com/log

Exit codes: 0 a quorum cosigned it, 1 no quorum did, or it is of another log, 2 wrong usage or a file that cannot be read`,
    )
    .action((file: string, options: RootOptions) =>
      showRoot(new Output(terminal, program.opts().json === true), file, options),
    );
}

function quorumArgument(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError("Give a whole number from 1 to 999.");
  return Number(text);
}

async function showRoot(output: Output, file: string, options: RootOptions): Promise<void> {
  const { witnessKeys: keys_file, origin } = options;
  const keys = keysOf(keys_file, await textOf(keys_file));
  const { quorum = keys.length } = options;
  if (quorum > keys.length) {
    throw new UsageError(`--quorum is ${quorum}, and ${keys_file} has ${keys.length} keys.`);
  }
  const found = await checkCosignedRoot(await textOf(file), keys, { quorum, now_ms: Date.now() });
  if (found === null) throw new UsageError(`${file} is not a signed root.`);
  output.result(found, () => {
    for (const line of linesOf(found)) output.line(line);
  });
  if (origin !== undefined && found.origin !== origin) {
    throw new Refused(`This root is of the log ${found.origin}, not of ${origin}.`);
  }
  if (found.is_witnessed) return;
  throw new Refused(`${countOf(found)} of ${keys.length} witnesses cosigned this root: ${quorum} must have.`);
}

function keysOf(file: string, text: string) {
  try {
    return readWitnessKeys(text);
  } catch (error) {
    if (!(error instanceof NotWitnessKeys)) throw error;
    throw new UsageError(`${file}${error.line === 0 ? "" : ` line ${error.line}`} ${error.message}.`);
  }
}

function countOf({ witnesses }: CosignedRoot): number {
  return witnesses.filter(({ cosigned_at }) => cosigned_at !== null).length;
}

function linesOf(found: CosignedRoot): string[] {
  const { origin, size, witnesses } = found;
  return [
    `${countOf(found)} of ${witnesses.length} witnesses cosigned this root.`,
    `  log          ${origin}, ${size} checkpoints`,
    ...witnesses.map(({ name, cosigned_at }) => `  witness      ${name}, ${cosigned_at ?? "no cosignature"}`),
  ];
}
