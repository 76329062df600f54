import { Command, CommanderError } from "commander";
import { addApply } from "./commands/apply.ts";
import type { Run } from "./commands/context.ts";
import { addDiff } from "./commands/diff.ts";
import { addExplain } from "./commands/explain.ts";
import { addRestore } from "./commands/restore.ts";
import { addRevisions } from "./commands/revisions.ts";
import { addServices } from "./commands/services.ts";
import { Refused, UsageError } from "./failures.ts";
import { Output } from "./output.ts";
import { Registry, type RegistryAddress } from "./registry.ts";
import { reportRefusal } from "./report-failure.ts";
import type { Terminal } from "./terminal.ts";

const EXIT_OK = 0;
const EXIT_REFUSED = 1;
const EXIT_USAGE = 2;

/** Runs the operator's command line (contract 3) and resolves with its exit code: 0 ok, 1 refused, 2 usage. */
export async function runCommandLine(
  parameters: readonly string[],
  address: RegistryAddress,
  terminal: Terminal,
): Promise<number> {
  const program = createProgram(address, terminal);
  try {
    await program.parseAsync(parameters, { from: "user" });
    return EXIT_OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    if (error instanceof Refused) {
      reportRefusal(error, terminal, program.opts().json === true);
      return EXIT_REFUSED;
    }
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(`${error.message}\n`);
    return EXIT_USAGE;
  }
}

function createProgram(address: RegistryAddress, terminal: Terminal): Command {
  const program = new Command("bun cli");
  const run: Run = async (work) => {
    const output = new Output(terminal, program.opts().json === true);
    await work({ registry: new Registry(address), output });
  };
  program
    .description("Publishes routes through the registry, and shows what is published.")
    .option("--json", "write the registry's answers as JSON")
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

Exit codes: 0 ok, 1 refused or not reachable, 2 wrong usage

Examples:
  $ bun cli apply routes.yaml --dry-run
  $ bun cli apply routes.yaml
  $ bun cli explain GET /org/widgets/42`,
    );
  addApply(program, run, terminal);
  addDiff(program, run, terminal);
  addServices(program, run);
  addRevisions(program, run);
  addRestore(program, run);
  addExplain(program, run);
  return program;
}
