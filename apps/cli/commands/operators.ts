import { ConfigError } from "@ostiary/lib/runtime/config";
import { parseOperatorsFile, readOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import type { Command } from "commander";
import { Refused } from "../errors.ts";
import { Output } from "../output.ts";
import type { Run, Setting } from "./command.ts";

/** Adds `operators check FILE`, which checks an operators file without a registry. */
export function addOperators(program: Command, _run: Run, { terminal }: Setting): void {
  program
    .command("operators")
    .description("Check the file of operators")
    .command("check")
    .description("Check an operators file as the registry does, without a registry")
    .argument("<file>", "the file that OPERATORS_FILE names")
    .addHelpText("after", "\nExample:\n  $ bun cli operators check operators.yaml")
    .action((file: string) => {
      const operators = checked(file).map(({ operator, tokens }) => ({ ...operator, tokens: tokens.length }));
      const output = new Output(terminal, program.opts().json === true);
      output.result({ operators }, () =>
        output.table(
          ["operator", "role", "services", "paths", "tokens"],
          operators.map(({ name, role, services, paths, tokens }) => [
            name,
            role,
            services?.join(" ") ?? "every",
            paths?.join(" ") ?? "every",
            String(tokens),
          ]),
          "The file is valid and lists no operators.",
        ),
      );
    });
}

function checked(file: string) {
  try {
    return parseOperatorsFile(readOperatorsFile(file));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Refused(error.problems.map(({ message }) => `${file} ${message}`).join("\n"));
  }
}
