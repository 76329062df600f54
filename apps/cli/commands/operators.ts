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
    .addHelpText("after", "\nExample:\n  $ bun cli operators check operators.yaml")
    .action((file: string, { issuer }: { issuer?: string }) => {
      const operators = checked(file, issuer).map(({ operator, tokens, claims }) => ({
        ...operator,
        tokens: tokens.length,
        claims: claims === null ? null : Object.fromEntries(claims.pairs),
      }));
      const output = new Output(terminal, program.opts().json === true);
      output.result({ operators }, () =>
        output.table(
          ["operator", "role", "services", "paths", "urls", "proof"],
          operators.map(({ name, role, services, paths, urls, tokens, claims }) => [
            name,
            role,
            services?.join(" ") ?? "every",
            paths?.join(" ") ?? "every",
            urls?.join(" ") ?? "every",
            claims === null ? counted(tokens) : claimsText(claims),
          ]),
          "The file is valid and lists no operators.",
        ),
      );
    });
}

function counted(tokens: number): string {
  return tokens === 1 ? "1 token" : `${tokens} tokens`;
}

function claimsText(claims: Readonly<Record<string, string>>): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

function checked(file: string, issuer: string | undefined) {
  try {
    return parseOperatorsFile(readOperatorsFile(file), { issuer });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Refused(error.problems.map(({ message }) => `${file} ${message}`).join("\n"));
  }
}
