import { type CosignedRoot, checkCosignedRoot, cosignedCount } from "@ostiary/lib/verification";
import type { Command } from "commander";
import { Refused, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { textOf } from "../verify/files.ts";
import { addQuorumAndOrigin, type WitnessOptions, witnessLines, witnessRule } from "../verify/witnesses.ts";

type RootOptions = WitnessOptions & { witnessKeys: string };

/** Adds `audit root FILE`, which shows which witnesses cosigned a signed root of a log, and when. */
export function addAuditRoot(program: Command, audit: Command, terminal: Terminal): void {
  const root = audit
    .command("root")
    .description("Show which witnesses cosigned a signed root of an audit log, and when; calls no service")
    .argument("<file>", "a signed root from GET /audit-log/checkpoint, or - for standard input")
    .requiredOption(
      "--witness-keys <file>",
      "a file with the verifier keys of the witnesses, one on each line",
    );
  addQuorumAndOrigin(root)
    .addHelpText(
      "after",
      `
Examples:
  $ curl -s https://api.example.com/audit-log/checkpoint > root.txt
  $ bun cli audit root root.txt --witness-keys witnesses.txt --quorum 2 --origin audit.example.com/log

Exit codes: 0 enough witnesses cosigned the root, 1 too few did, or the root belongs to another log, 2 wrong usage or an unreadable file`,
    )
    .action((file: string, options: RootOptions) =>
      showRoot(new Output(terminal, program.opts().json === true), file, options),
    );
}

async function showRoot(output: Output, file: string, options: RootOptions): Promise<void> {
  const { origin } = options;
  const { keys, quorum, nowMs } = await witnessRule(options.witnessKeys, options.quorum);
  const found = await checkCosignedRoot(await textOf(file), keys, { quorum, nowMs });
  if (found === null)
    throw new UsageError(`${file} is not a signed root: save the response of GET /audit-log/checkpoint.`);
  output.result(found, () => {
    for (const line of linesOf(found)) output.line(line);
  });
  if (origin !== undefined && found.origin !== origin) {
    throw new Refused(`This root belongs to the log ${found.origin}, but --origin names ${origin}.`);
  }
  if (found.is_witnessed) return;
  const count = cosignedCount(found.witnesses);
  throw new Refused(`${count} of ${keys.length} witnesses cosigned this root; at least ${quorum} must.`);
}

function linesOf({ origin, size, witnesses }: CosignedRoot): string[] {
  return [
    `${cosignedCount(witnesses)} of ${witnesses.length} witnesses cosigned this root.`,
    `  log          ${origin}, ${size} checkpoints`,
    ...witnessLines(witnesses),
  ];
}
