import { ConfigError } from "@ostiary/lib/runtime/config";
import { parseOperatorsFile, readOperatorsFile } from "@ostiary/lib/runtime/config/operators-file";
import type { Command } from "commander";
import { Refused } from "../exit-codes.ts";
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
    .option("--issuer <issuer>", "the registry's OPERATOR_ISSUER, to check the claims of operators too")
    .addHelpText("after", `\nExample:\n  $ ${program.name()} operators check operators.yaml`)
    .action((file: string, { issuer }: { issuer?: string }) => {
      const operators = checked(file, issuer).length;
      const output = new Output(terminal, program.opts().json === true);
      const noun = operators === 1 ? "operator" : "operators";
      output.result({ operators }, () => output.line(`The file is valid and lists ${operators} ${noun}.`));
    });
}

function checked(file: string, issuer: string | undefined) {
  try {
    return parseOperatorsFile(readOperatorsFile(file), { issuer });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Refused(error.problems.map(({ message }) => `${file} ${message}`).join("\n"));
  }
}
