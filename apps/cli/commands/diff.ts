import { Diff, Revisions } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { pathTo, type RegistryClient } from "../registry-client.ts";
import { showPlan } from "./apply.ts";
import { type Run, revisionArgument } from "./command.ts";

/** `diff FILE` or `diff SERVICE [FROM] [TO]`: what would change, or what has. */
export function addDiff(program: Command, run: Run): void {
  program
    .command("diff")
    .description("Show what a document would change, or what changed between two revisions of a service")
    .argument("<target>", "a file (a path, or *.yaml, *.yml, *.json, or -), or the name of a service")
    .argument("[from]", "a revision of the service; default: the one before [to]", revisionArgument)
    .argument("[to]", "a revision of the service; default: the newest", revisionArgument)
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli diff routes.yaml       what apply would change
  $ bun cli diff widgets           what the newest revision of widgets changed
  $ bun cli diff widgets 3 5       what changed from revision 3 to revision 5`,
    )
    .action((target: string, from: number | undefined, to: number | undefined) =>
      run(async (context) => {
        if (from === undefined && isFile(target)) return showPlan(context, target);
        const { registry, output } = context;
        const newest = to ?? (await newestRevision(registry, target));
        const before = from ?? newest - 1;
        if (before < 1) throw new UsageError(`${target} has one revision only: there is nothing to compare.`);
        const answer = await registry.ask(
          Diff,
          pathTo("services", target, "revisions", before, "diff", newest),
        );
        output.result(answer, ({ changes }) => output.changes(changes));
      }),
    );
}

function isFile(target: string): boolean {
  return target === "-" || target.includes("/") || /\.(ya?ml|json)$/i.test(target);
}

async function newestRevision(registry: RegistryClient, service: string): Promise<number> {
  const { revisions } = await registry.ask(Revisions, pathTo("services", service, "revisions"));
  return revisions[0]?.revision ?? 1;
}
