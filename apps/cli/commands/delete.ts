import { Deleted, Service } from "@ostiary/lib/contracts/registry-api";
import { SCOPES } from "@ostiary/lib/domain/routes";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { Refused, UsageError } from "../exit-codes.ts";
import { pathTo } from "../registry-client.ts";
import { onOneLine } from "../terminal.ts";
import { type CommandContext, ifMatch, type Run, revisionArgument } from "./command.ts";
import { addWaitOption, reportPropagation, sendWrite, type WaitOptions } from "./wait-option.ts";

/** The response body of a delete, which is null unless the request waited for the gateways. */
const DeleteResponse = Type.Union([Type.Null(), Deleted]);

interface Options extends WaitOptions {
  yes?: true;
  ifRevision?: number;
}

/** Adds `delete SERVICE`, which deletes a service and its routes. */
export function addDelete(program: Command, run: Run): void {
  addWaitOption(program.command("delete"))
    .description("Delete a service and its routes; its history stays, and restore brings it back")
    .argument("<service>", "the name of a service")
    .option("--yes", "do not ask for confirmation; required if standard input is not a terminal")
    .option(
      "--if-revision <current>",
      "delete only if this is still the service's current revision",
      revisionArgument,
    )
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} delete widgets
  $ ${program.name()} delete widgets --yes --if-revision 5`,
    )
    .action((service: string, options: Options) =>
      run(async (context) => {
        const revision = options.yes ? options.ifRevision : await confirmed(context, service, options);
        const { output } = context;
        const path = pathTo("services", service);
        const write = { schema: DeleteResponse, path, method: "DELETE", headers: ifMatch(revision) } as const;
        const response = await sendWrite(context, write, options);
        output.result({ service, status: "deleted", ...response }, () =>
          output.line(
            `${service} is deleted. Its revisions stay: the command restore makes one of them current again.`,
          ),
        );
        reportPropagation(context, response?.propagation);
      }),
    );
}

/**
 * Asks a person to confirm and returns the revision to delete. A newer revision, written while the person
 * decides, is not deleted.
 */
async function confirmed(
  { registry, terminal }: CommandContext,
  name: string,
  { ifRevision }: Options,
): Promise<number> {
  if (terminal.ask === null) {
    throw new UsageError(
      "Standard input is not a terminal, so the command cannot ask for confirmation: add --yes.",
    );
  }
  const service = await registry.call(Service, pathTo("services", name));
  const routes = SCOPES.flatMap((scope) => service[scope]?.routes ?? []).length;
  const what = `${name}, revision ${service.revision}, with ${routes} ${routes === 1 ? "route" : "routes"}`;
  const typed = await terminal.ask(onOneLine(`Delete ${what} at ${service.url}? [y/N] `));
  if (!/^\s*y(es)?\s*$/i.test(typed)) throw new Refused("Nothing was deleted.");
  return ifRevision ?? service.revision;
}
