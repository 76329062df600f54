import type { Roles } from "@ostiary/lib/domain/routes";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { loadRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { type Command, Option } from "commander";
import { Refused, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { sarifLog } from "../validation/sarif.ts";
import { checkFiles, type Report, type SourceFile } from "../validation/validation-report.ts";
import { annotations, reportText, summaryText } from "../validation/validation-text.ts";
import type { Run, Setting } from "./command.ts";
import { readBytes } from "./read-document.ts";

const FORMATS = ["text", "json", "sarif", "github"] as const;
type Format = (typeof FORMATS)[number];

/** Adds `validate FILE…`, which checks configuration documents without a registry. */
export function addValidate(program: Command, _run: Run, { terminal }: Setting): void {
  program
    .command("validate")
    .description("Check configuration documents, also against each other, without a registry")
    .argument("<file...>", "YAML or .json files, or - for standard input")
    .addOption(new Option("--format <format>", "how to write the problems").choices(FORMATS))
    .option("--roles <file>", "the roles file, for tests with a role")
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} validate routes/*.yaml
  $ ${program.name()} validate routes/*.yaml --format github     annotates a pull request
  $ ${program.name()} validate routes/*.yaml --format sarif > routes.sarif

Exit codes: 0 no problem, 1 problems, 2 wrong usage or a file that cannot be read`,
    )
    .action((files: string[], { format, roles }: { format?: Format; roles?: string }) =>
      validate(files, { format: formatOf(format, program.opts().json === true), roles }, terminal),
    );
}

function formatOf(format: Format | undefined, asJson: boolean): Format {
  if (asJson && format !== undefined && format !== "json") {
    throw new UsageError(`--json and --format ${format} cannot be given together.`);
  }
  return asJson ? "json" : (format ?? "text");
}

async function validate(
  files: readonly string[],
  { format, roles }: { format: Format; roles?: string },
  terminal: Terminal,
): Promise<void> {
  const known = roles === undefined ? null : readRoles(roles);
  const sources: SourceFile[] = [];
  for (const name of new Set(files)) sources.push({ name, bytes: await readBytes(name, terminal) });
  const report = checkFiles(sources, known);
  writers[format](report, new Output(terminal, format === "json" || format === "sarif"));
  if (!report.valid) throw new Refused(summaryText(report));
}

/**
 * Reads a roles file.
 * @throws UsageError with every problem of the file
 */
function readRoles(file: string): Roles {
  try {
    return loadRolesFile(file).roles;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(error.problems.map(({ message }) => `--roles ${message}`).join("\n"));
  }
}

const writers: Record<Format, (report: Report, output: Output) => void> = {
  text: (report, output) => {
    for (const line of reportText(report)) output.line(line);
    if (report.valid) output.line(summaryText(report));
  },
  json: (report, output) => output.json(report),
  sarif: (report, output) => output.json(sarifLog(report)),
  github: (report, output) => {
    for (const line of annotations(report)) output.line(line);
  },
};
