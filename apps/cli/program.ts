import { changeNoteHeaders } from "@ostiary/lib/contracts/registry-api";
import { VERSION } from "@ostiary/lib/runtime/version";
import { Command, CommanderError } from "commander";
import { changeNote } from "./change-note-option.ts";
import { addApply } from "./commands/apply.ts";
import { addAudit } from "./commands/audit-group.ts";
import { addChanges } from "./commands/changes.ts";
import { type Run, timeoutArgument } from "./commands/command.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDelete } from "./commands/delete.ts";
import { addDiff } from "./commands/diff.ts";
import { addExplain } from "./commands/explain.ts";
import { addExport } from "./commands/export.ts";
import { addFromOpenApi } from "./commands/from-openapi.ts";
import { addGateways } from "./commands/gateways.ts";
import { addOperators } from "./commands/operator-commands.ts";
import { addRestore } from "./commands/restore.ts";
import { addRevisions } from "./commands/revisions.ts";
import { addServices } from "./commands/service-commands.ts";
import { addValidate } from "./commands/validate.ts";
import { withDefaultWait } from "./commands/wait-option.ts";
import { CommandFailure, EXIT_OK, EXIT_USAGE, Flagged, Interrupted, Refused } from "./exit-codes.ts";
import { Output } from "./output.ts";
import { findRegistry, type ReadVariable, registryNames } from "./profiles.ts";
import { refusalText } from "./refusal-text.ts";
import { RegistryClient } from "./registry-client.ts";
import { printable, printableJson, type Terminal } from "./terminal.ts";
import { mayHaveTakenEffect } from "./unreachable.ts";

const TIMEOUT_S = 60;

/** How the user started the CLI: its name, arguments, environment and terminal. */
export interface Invocation {
  /** The command that the person typed: `bun cli`, or the name of an executable. */
  name: string;
  parameters: readonly string[];
  variable: ReadVariable;
  terminal: Terminal;
  /** Adds the commands of the program that embeds this command line. */
  addMore?(program: Command): void;
}

/**
 * Runs the operator's command line and returns its exit code. Success is 0, a refusal 1, wrong usage 2 and an effect
 * that `--fail-on` names 3. An undecided check is 4, and an interruption 130.
 */
export async function runCommandLine(invocation: Invocation): Promise<number> {
  const { name, parameters, terminal } = invocation;
  let registry: RegistryClient | undefined;
  const program = createProgram(invocation, (client) => {
    registry = client;
  });
  try {
    await Promise.race([
      program.parseAsync(withDefaultWait(parameters), { from: "user" }),
      interrupted(terminal),
    ]);
    return EXIT_OK;
  } catch (error) {
    if (error instanceof Interrupted && registry?.writing) terminal.writeError(interruptedWriteText(name));
    return reportFailure(error, { asJson: program.opts().json === true, terminal });
  }
}

/** Reports why a command failed, and returns its exit code. */
function reportFailure(
  error: unknown,
  { asJson, terminal }: { asJson: boolean; terminal: Terminal },
): number {
  // commander has already written the message
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
  if (!(error instanceof CommandFailure)) throw error;
  const text = textOf(error, asJson);
  if (text !== null) terminal.writeError(`${text}\n`);
  return error.exitCode;
}

/** Returns the text to write for a failure, or null to write nothing. */
function textOf(failure: CommandFailure, asJson: boolean): string | null {
  if (failure instanceof Interrupted || failure instanceof Flagged) return null;
  if (!(failure instanceof Refused)) return printable(failure.message);
  const envelope = asJson ? failure.envelope : null;
  return envelope === null ? refusalText(failure) : printableJson(envelope);
}

function interruptedWriteText(name: string): string {
  return `\nInterrupted before the registry responded. ${mayHaveTakenEffect(name)}\n`;
}

function interrupted({ interruption }: Terminal): Promise<never> {
  return new Promise((_, reject) =>
    interruption.addEventListener("abort", () => reject(new Interrupted()), { once: true }),
  );
}

const commands = [
  addApply,
  addDiff,
  addValidate,
  addFromOpenApi,
  addServices,
  addExport,
  addDelete,
  addRevisions,
  addChanges,
  addRestore,
  addExplain,
  addGateways,
  addOperators,
  addAudit,
  addCompletion,
];

function helpText(name: string): string {
  return `
Environment:
  REGISTRY_URL  where the registry's admin API is (default http://localhost:5002)
  ADMIN_TOKEN   the registry's ADMIN_TOKEN, a token of OPERATORS_FILE, or a JWT of OPERATOR_ISSUER.
                ADMIN_TOKEN_FILE names a file that holds the token

Profiles, used if all are unset or --registry names one: ostiary/config.yaml in $XDG_CONFIG_HOME or ~/.config
  default: staging
  registries:
    staging: { url: "https://registry.staging:5002", token_command: pass show ostiary/staging }

Exit codes: 0 ok, 1 refused or not reachable, 2 wrong usage,
  3 an effect that --fail-on names, 4 undecided (audit verify, audit watch --once),
  130 interrupted

Examples:
  $ ${name} validate routes.yaml
  $ ${name} apply routes.yaml --dry-run
  $ ${name} apply routes.yaml
  $ ${name} explain GET /org/widgets/42`;
}

/** @param onOpen receives the client of each command that calls a registry */
function createProgram(
  { name, variable, terminal, addMore }: Invocation,
  onOpen: (registry: RegistryClient) => void,
): Command {
  const program = new Command(name);
  const run: Run = async (work) => {
    const { json, timeout, registry: named, reason, link } = program.opts();
    const address = await findRegistry(named, variable);
    const note = changeNoteHeaders(changeNote({ reason, link }, variable));
    const client = new RegistryClient(address, { timeoutS: timeout, note, program: name });
    onOpen(client);
    await work({
      registry: client,
      output: new Output(terminal, json === true),
      terminal,
      programName: name,
    });
  };
  program
    .description("Publishes routes through the registry, and shows what is published.")
    .option("--json", "write the registry's responses as JSON")
    .option("--registry <name>", "the registry of the profiles file to use")
    .option("--timeout <seconds>", "the longest wait for a response", timeoutArgument, TIMEOUT_S)
    .option(
      "--reason <text>",
      "the reason for a write, stored in the history (default in CI: the pipeline's name)",
    )
    .option("--link <url>", "a URL that explains a write (default in CI: the pipeline's run)")
    .version(VERSION, "--version", "write the version")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.write(text),
      writeErr: (text) => terminal.writeError(text),
    })
    .addHelpText("after", helpText(name));
  const setting = { terminal, registryNames: () => registryNames(variable) };
  for (const add of commands) add(program, run, setting);
  addMore?.(program);
  return program;
}
