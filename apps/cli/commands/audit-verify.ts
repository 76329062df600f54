import { isOwner, OWNER_RULE } from "@ostiary/lib/domain/proof/owner";
import { type Verdict, type VerifyGiven, verifyExport } from "@ostiary/lib/verification";
import { type Command, InvalidArgumentError } from "commander";
import { Refused, Undecided, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { linesOf, readRoot, readWitnesses } from "../verify/files.ts";
import { reportLines, summaryOf } from "../verify/report.ts";
import { keyArgument, wholeNumber } from "./command.ts";

interface VerifyOptions {
  owner?: string;
  root?: string[];
  key?: VerifyGiven["keys"];
  witnessKeys?: string;
  quorum?: number;
}

/**
 * Adds `audit verify FILE`, which checks offline whether an export of the audit log is complete and unaltered, and
 * the exit code of each verdict.
 */
export function addAuditVerify(program: Command, audit: Command, terminal: Terminal): void {
  audit
    .command("verify")
    .description("Verify that an export with proof is complete and unaltered; calls no service")
    .argument("<file>", "an NDJSON export made with proof=true, or - for standard input")
    .option("--owner <owner>", "whose log it must be: organization:ID or user:ID", ownerArgument)
    .option("--root <file...>", "a signed root or an export that you kept, which the log must continue")
    .option("--key <vkey...>", "the verifier key of the log, as `audit key` prints it", keyArgument)
    .option("--witness-keys <file>", "a file with the verifier keys of witnesses, one on each line")
    .option(
      "--quorum <number>",
      "how many of the witnesses must have cosigned (default all)",
      wholeNumber(100),
    )
    .addHelpText(
      "after",
      `
Examples:
  $ curl -H 'Accept: application/x-ndjson' -H "X-API-Key: $KEY" \\
      "$GATEWAY/org/audit-events?proof=true&root=$SIZE" > log.ndjson
  $ ${program.name()} audit verify log.ndjson --owner organization:01K… --key audit.example.com/log+b1cea59d+A…
  $ ${program.name()} audit verify log.ndjson --root root-of-size-$SIZE.txt
  $ ${program.name()} audit verify log.ndjson --witness-keys witnesses.txt --quorum 2

Exit codes: 0 complete and unaltered, 1 altered, 2 wrong usage or an unreadable file, 4 undecided: the files do not prove completeness`,
    )
    .action((file: string, options: VerifyOptions) =>
      verify({ output: new Output(terminal, program.opts().json === true), terminal }, file, options),
    );
}

function ownerArgument(text: string): string {
  if (isOwner(text)) return text;
  throw new InvalidArgumentError(OWNER_RULE);
}

async function verify(
  { output, terminal }: { output: Output; terminal: Terminal },
  file: string,
  options: VerifyOptions,
): Promise<void> {
  const given = await givenOf(options);
  const progress = new Progress(terminal.colors ? terminal.writeError : () => {});
  const verdict = await verifyExport(linesOf(file), given, (events) => progress.show(events));
  progress.clear();
  output.result(verdict, () => {
    for (const line of reportLines(verdict)) output.line(line);
  });
  refuseUnlessComplete(verdict);
}

async function givenOf({ owner, root, key, witnessKeys, quorum }: VerifyOptions): Promise<VerifyGiven> {
  if (quorum !== undefined && witnessKeys === undefined) {
    throw new UsageError("--quorum needs --witness-keys, a file with the keys of the witnesses.");
  }
  return {
    owner: owner ?? null,
    keys: key ?? null,
    roots: await Promise.all((root ?? []).map(readRoot)),
    witnesses: witnessKeys === undefined ? null : await readWitnesses(witnessKeys, quorum),
  };
}

function refuseUnlessComplete(verdict: Verdict): void {
  if (verdict.result === "altered") throw new Refused(summaryOf(verdict));
  if (verdict.result === "undecided") throw new Undecided(summaryOf(verdict));
}

const PROGRESS_EVENTS = 10_000;

/** Shows the number of checked events on one line of the terminal. */
class Progress {
  readonly #write: (text: string) => void;
  #shown = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(events: number): void {
    if (events - this.#shown < PROGRESS_EVENTS) return;
    this.#shown = events;
    this.#write(`\r${events} events`);
  }

  clear(): void {
    if (this.#shown > 0) this.#write("\r\x1b[K");
  }
}
