import { Deleted, revisionTag, Service } from "@ostiary/lib/contracts/registry-api";
import { SCOPES } from "@ostiary/lib/domain/routes";
import { Type } from "@sinclair/typebox";
import type { Command } from "commander";
import { Refused, UsageError } from "../errors.ts";
import { pathTo } from "../registry-client.ts";
import { type CommandContext, type Run, revisionArgument } from "./command.ts";
import { addWaitOption, reportPropagation, type WaitOptions, waitQuery, withProgress } from "./wait.ts";

/** Nothing, unless the answer waited. */
const Answer = Type.Union([Type.Null(), Deleted]);

interface Options extends WaitOptions {
  yes?: true;
  ifRevision?: number;
}

/** `delete SERVICE`: take a service's routes away. */
export function addDelete(program: Command, run: Run): void {
  addWaitOption(program.command("delete"))
    .description("Take a service and its routes away; its history stays, and restore brings it back")
    .argument("<service>", "the name of a service")
    .option("--yes", "do not ask first; needed where nobody can be asked")
    .option("--if-revision <revision>", "only if this is the current revision", revisionArgument)
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli delete widgets
  $ bun cli delete widgets --yes --if-revision 5`,
    )
    .action((service: string, options: Options) =>
      run(async (context) => {
        const revision = options.yes ? options.ifRevision : await confirmed(context, service, options);
        const { registry, output, terminal } = context;
        const asked = registry.ask(Answer, pathTo("services", service), {
          method: "DELETE",
          ...waitQuery(options),
          ...(revision !== undefined && { headers: { "If-Match": revisionTag(revision) } }),
        });
        const answer = await withProgress(terminal, options, asked);
        output.result({ service, status: "deleted", ...answer }, () =>
          output.line(`${service} is deleted. Its revisions stay, and restore brings one back.`),
        );
        reportPropagation(output, answer?.propagation);
      }),
    );
}

/** The revision that somebody at the terminal has seen and wants deleted: no other one is, whatever is written meanwhile. */
async function confirmed(
  { registry, terminal }: CommandContext,
  name: string,
  { ifRevision }: Options,
): Promise<number> {
  if (terminal.ask === null) {
    throw new UsageError("Nobody can be asked, since standard input is no terminal: add --yes.");
  }
  const service = await registry.ask(Service, pathTo("services", name));
  const routes = SCOPES.flatMap((scope) => service[scope]?.routes ?? []).length;
  const answer = await terminal.ask(
    `Delete ${name}, revision ${service.revision}, with ${routes} ${routes === 1 ? "route" : "routes"} at ${service.url}? [y/N] `,
  );
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Refused("Nothing was deleted.");
  return ifRevision ?? service.revision;
}
