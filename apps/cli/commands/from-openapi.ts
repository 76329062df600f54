import { SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import { parseText } from "@ostiary/lib/runtime/documents";
import { type Command, Option } from "commander";
import { Refused, UsageError } from "../exit-codes.ts";
import { Conversion, MARK, optionProblems } from "../from-openapi/convert.ts";
import { Description } from "../from-openapi/description.ts";
import { documentText } from "../from-openapi/document.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import type { Run, Setting } from "./command.ts";
import { readBytes } from "./read-document.ts";

interface Options {
  readonly service: string;
  readonly url: string;
  readonly scope?: Scope;
  readonly prefix?: string;
}

/** Adds `from-openapi FILE`, which prints a configuration document for a service with an OpenAPI description. */
export function addFromOpenApi(program: Command, _run: Run, { terminal }: Setting): void {
  program
    .command("from-openapi")
    .description("Print a configuration document for a service that has an OpenAPI description")
    .argument("<file>", "an OpenAPI 3.0 or 3.1 description in YAML or JSON, or - for standard input")
    .requiredOption("--service <name>", "the name of the service")
    .requiredOption("--url <url>", "where the gateway calls the service: http://host:port")
    .addOption(
      new Option("--scope <scope>", "the scope of all routes (default: by security schemes)").choices(SCOPES),
    )
    .option("--prefix <path>", "the route_prefix of all routes")
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} from-openapi openapi.yaml --service widgets --url http://widgets:8080 > routes.yaml
  $ ${program.name()} from-openapi openapi.json --service widgets --url http://widgets:8080 --scope member --prefix /me

Exit codes: 0 all operations are routes, 1 some are not: the document says in comments which and why`,
    )
    .action((file: string, options: Options) => fromOpenApi(file, options, { terminal, program }));
}

async function fromOpenApi(
  file: string,
  options: Options,
  { terminal, program }: { terminal: Terminal; program: Command },
): Promise<void> {
  const wrong = optionProblems(options);
  if (wrong.length > 0) throw new UsageError(wrong.join("\n"));
  const description = new Description(file, await readBytes(file, terminal));
  const converted = new Conversion(description, options).run();
  const text = documentText(converted, options);
  const output = new Output(terminal, program.opts().json === true);
  if (output.isJson) output.json(parseText(text));
  else output.write(text);
  const { problems, operations } = converted;
  if (problems === 0) return;
  const noun = problems === 1 ? "problem" : "problems";
  throw new Refused(
    `${problems} ${noun} in ${operations} operations: search the document for "${MARK}", and edit it.`,
  );
}
