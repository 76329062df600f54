import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { addApply } from "./commands/apply.ts";
import { type Run, timeoutArgument } from "./commands/command.ts";
import { addDelete } from "./commands/delete.ts";
import { addDiff } from "./commands/diff.ts";
import { addExplain } from "./commands/explain.ts";
import { addExport } from "./commands/export.ts";
import { addGateways } from "./commands/gateways.ts";
import { addRestore } from "./commands/restore.ts";
import { addRevisions } from "./commands/revisions.ts";
import { addServices } from "./commands/services.ts";
import { withDefaultWait } from "./commands/wait.ts";
import { Flagged, Interrupted, Refused, UsageError } from "./errors.ts";
import { Output } from "./output.ts";
import { refusalText } from "./refusal-text.ts";
import { type RegistryAddress, RegistryClient } from "./registry-client.ts";
import { printable, type Terminal } from "./terminal.ts";

const EXIT_OK = 0;
const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;
/** A review has what `--fail-on` names. */
const EXIT_FLAGGED = 3;
/** As a shell reports a program that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;
const TIMEOUT_S = 60;

/**
 * Runs the operator's command line (contract 3) and resolves with its exit code: 0 ok, 1 refused, 2 usage,
 * 3 what `--fail-on` names was found, 130 interrupted.
 */
export async function runCommandLine(
  parameters: readonly string[],
  address: RegistryAddress,
  terminal: Terminal,
): Promise<number> {
  let registry: RegistryClient | undefined;
  const program = createProgram(terminal, (timeout_s) => {
    registry = new RegistryClient(address, timeout_s);
    return registry;
  });
  try {
    await Promise.race([
      program.parseAsync(withDefaultWait(parameters), { from: "user" }),
      interrupted(terminal),
    ]);
    return EXIT_OK;
  } catch (error) {
    if (error instanceof Interrupted && registry?.writing) terminal.writeError(INTERRUPTED_WRITE);
    return reportFailure(error, { asJson: program.opts().json === true, terminal });
  }
}

/** Says why a command failed, and gives its exit code. */
function reportFailure(
  error: unknown,
  { asJson, terminal }: { asJson: boolean; terminal: Terminal },
): number {
  // commander has told it
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  if (error instanceof Interrupted) return EXIT_INTERRUPTED;
  if (error instanceof Flagged) return EXIT_FLAGGED;
  if (error instanceof Refused) {
    const envelope = asJson ? error.envelope : null;
    const text = envelope === null ? printable(refusalText(error)) : JSON.stringify(envelope, null, 2);
    terminal.writeError(`${text}\n`);
    return EXIT_REFUSED;
  }
  if (!(error instanceof UsageError)) throw error;
  terminal.writeError(`${error.message}\n`);
  return EXIT_USAGE;
}

const INTERRUPTED_WRITE =
  "\nInterrupted before the registry answered. What was asked for may have been done all the same: look with bun cli services.\n";

function interrupted({ interruption }: Terminal): Promise<never> {
  return new Promise((_, reject) =>
    interruption.addEventListener("abort", () => reject(new Interrupted()), { once: true }),
  );
}

const commands = [
  addApply,
  addDiff,
  addServices,
  addExport,
  addDelete,
  addRevisions,
  addRestore,
  addExplain,
  addGateways,
];

function createProgram(terminal: Terminal, open: (timeout_s: number) => RegistryClient): Command {
  const program = new Command("bun cli");
  const run: Run = async (work) => {
    const { json, timeout } = program.opts();
    await work({ registry: open(timeout), output: new Output(terminal, json === true), terminal });
  };
  program
    .description("Publishes routes through the registry, and shows what is published.")
    .option("--json", "write the registry's answers as JSON")
    .option("--timeout <seconds>", "how long to wait for an answer", timeoutArgument, TIMEOUT_S)
    .version(manifest.version, "--version", "write the version")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.write(text),
      writeErr: (text) => terminal.writeError(text),
    })
    .addHelpText(
      "after",
      `
Environment:
  REGISTRY_URL  where the registry's admin API is (default http://localhost:5002)
  ADMIN_TOKEN   its token

Exit codes: 0 ok, 1 refused or not reachable, 2 wrong usage,
  3 found what --fail-on names, 130 interrupted

Examples:
  $ bun cli apply routes.yaml --dry-run
  $ bun cli apply routes.yaml
  $ bun cli explain GET /org/widgets/42`,
    );
  for (const add of commands) add(program, run);
  return program;
}
