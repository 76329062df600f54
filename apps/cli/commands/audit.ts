import type { Command } from "commander";
import { Interrupted, Refused } from "../errors.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { linesOf, readKept, readKeys } from "../verify/files.ts";
import { faultSummary, reportLines } from "../verify/report.ts";
import { verifyExport } from "../verify/verify.ts";
import type { Run, Setting } from "./command.ts";

interface VerifyOptions {
  checkpoint?: string;
  keys?: string;
}

/** `audit verify FILE`: whether an export of the audit log is complete and unaltered. Asks nobody. */
export function addAudit(program: Command, _run: Run, { terminal }: Setting): void {
  const audit = program.command("audit").description("Check exports of the audit log");
  audit
    .command("verify")
    .description("Check that an export with proof is complete and unaltered, without asking anyone")
    .argument("<file>", "an export in NDJSON that was asked for with proof=true, or - for standard input")
    .option(
      "--checkpoint <file>",
      "checkpoints, or an earlier export, that were kept: history must go on from them",
    )
    .option("--keys <file>", "the key set that checkpoints must be signed by")
    .addHelpText(
      "after",
      `
Examples:
  $ curl -H 'Accept: application/x-ndjson' -H "X-API-Key: $KEY" \\
      "$GATEWAY/org/audit-events?proof=true" > log.ndjson
  $ bun cli audit verify log.ndjson --keys jwks.json
  $ bun cli audit verify log.ndjson --checkpoint last-month.ndjson`,
    )
    .action((file: string, options: VerifyOptions) =>
      verify({ output: new Output(terminal, program.opts().json === true), terminal }, file, options),
    );
}

async function verify(
  { output, terminal }: { output: Output; terminal: Terminal },
  file: string,
  { checkpoint, keys }: VerifyOptions,
): Promise<void> {
  const trusted = keys === undefined ? null : await readKeys(keys);
  const kept = checkpoint === undefined ? { checkpoints: [], end: null } : await readKept(checkpoint);
  const { interruption } = terminal;
  const progress = new Progress(terminal.colours ? terminal.writeError : () => {});
  const verdict = await verifyExport(linesOf(file, interruption), trusted, kept, (events) =>
    progress.show(events),
  );
  progress.clear();
  if (interruption.aborted) throw new Interrupted();
  output.result(verdict, () => {
    for (const line of reportLines(verdict)) output.line(line);
  });
  if (!verdict.complete) throw new Refused(faultSummary(verdict));
}

const PROGRESS_EVENTS = 10_000;

/** A line on a terminal that counts. */
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
