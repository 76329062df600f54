import { type EnglishVerdict, inEnglish, type VerifyGiven, verifyExport } from "@ostiary/lib/verification";
import type { Command } from "commander";
import { Interrupted, Refused, Undecided, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { linesOf, readKept, readKeys } from "../verify/files.ts";
import { problemSummary, reportLines, undecidedSummary, unwitnessedSummary } from "../verify/report.ts";
import { addQuorumAndOrigin, type WitnessOptions, witnessRule } from "../verify/witnesses.ts";
import { addAuditRoot } from "./audit-root.ts";
import { addAuditWatch } from "./audit-watch.ts";
import type { Run, Setting } from "./command.ts";

interface VerifyOptions extends WitnessOptions {
  checkpoint?: string;
  keys?: string;
}

/**
 * Adds the `audit` commands. `audit verify FILE` checks offline whether an export of the audit log is complete
 * and unaltered.
 */
export function addAudit(program: Command, _run: Run, { terminal }: Setting): void {
  const audit = program
    .command("audit")
    .description("Check exports of the audit log, and watch its checkpoints");
  addAuditWatch(program, audit, terminal);
  addAuditRoot(program, audit, terminal);
  const verifyCommand = audit
    .command("verify")
    .description("Check that an export with proof is complete and unaltered; calls no service")
    .argument("<file>", "an NDJSON export made with proof=true, or - for standard input")
    .option(
      "--checkpoint <file>",
      "a file that you kept (checkpoints, a signed root or an export), from which the log must continue",
    )
    .option("--keys <file>", "a file with the JWKS that must sign checkpoints")
    .option(
      "--witness-keys <file>",
      "a file with the verifier keys of the witnesses that must have cosigned the log",
    );
  addQuorumAndOrigin(verifyCommand)
    .addHelpText(
      "after",
      `
Examples:
  $ curl -H 'Accept: application/x-ndjson' -H "X-API-Key: $KEY" \\
      "$GATEWAY/org/audit-events?proof=true" > log.ndjson
  $ bun cli audit verify log.ndjson --keys jwks.json
  $ bun cli audit verify log.ndjson --checkpoint last-month.ndjson
  $ bun cli audit verify log.ndjson --witness-keys witnesses.txt --quorum 2 --origin audit.example.com/log

Exit codes: 0 complete and unaltered, 1 altered, of another log or cosigned by too few witnesses, 2 wrong usage or an unreadable file, 4 undecided: the files do not show whether the log is complete`,
    )
    .action((file: string, options: VerifyOptions) =>
      verify({ output: new Output(terminal, program.opts().json === true), terminal }, file, options),
    );
}

async function verify(
  { output, terminal }: { output: Output; terminal: Terminal },
  file: string,
  options: VerifyOptions,
): Promise<void> {
  const given = await givenOf(options);
  const { interruption } = terminal;
  const progress = new Progress(terminal.colours ? terminal.writeError : () => {});
  const found = await verifyExport(linesOf(file, interruption), given, (events) => progress.show(events));
  const verdict = inEnglish(found);
  progress.clear();
  if (interruption.aborted) throw new Interrupted();
  output.result(verdict, () => {
    for (const line of reportLines(verdict)) output.line(line);
  });
  refuseUnlessComplete(verdict, options.origin);
}

async function givenOf({ checkpoint, keys, witnessKeys, quorum }: VerifyOptions): Promise<VerifyGiven> {
  if (quorum !== undefined && witnessKeys === undefined) {
    throw new UsageError("--quorum needs --witness-keys, a file with the keys of the witnesses.");
  }
  return {
    keys: keys === undefined ? null : await readKeys(keys),
    kept: checkpoint === undefined ? { checkpoints: [], end: null } : await readKept(checkpoint),
    witnesses: witnessKeys === undefined ? null : await witnessRule(witnessKeys, quorum),
  };
}

function refuseUnlessComplete(verdict: EnglishVerdict, origin: string | undefined): void {
  if (verdict.result === "altered") throw new Refused(problemSummary(verdict));
  if (origin !== undefined && verdict.tree?.origin !== origin) {
    const which =
      verdict.tree === null ? "does not name its log" : `belongs to the log ${verdict.tree.origin}`;
    throw new Refused(`The file ${which}, but --origin names ${origin}.`);
  }
  if (verdict.result === "unwitnessed") throw new Refused(unwitnessedSummary(verdict));
  if (verdict.result === "undecided") throw new Undecided(undecidedSummary(verdict));
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
