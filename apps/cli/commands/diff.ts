import { Diff, Revisions } from "@ostiary/lib/contracts/registry-api";
import { countEffects, markChanges } from "@ostiary/lib/domain/routes";
import type { Command } from "commander";
import { UsageError } from "../exit-codes.ts";
import { pathTo } from "../registry-client.ts";
import { addReviewOptions, type ReviewOptions, reviewWriter } from "../review/write-review.ts";
import { showDryRun } from "./apply.ts";
import { type CommandContext, type Run, revisionArgument } from "./command.ts";

/** Adds `diff FILE` and `diff SERVICE [FROM] [TO]`, which show future and past changes. */
export function addDiff(program: Command, run: Run): void {
  addReviewOptions(program.command("diff"))
    .description("Show what a document would change, or what changed between two revisions of a service")
    .argument(
      "<target>",
      "a document (a path, *.yaml, *.yml, *.json, or - for standard input), or the name of a service",
    )
    .argument("[from]", "the older revision (default: the revision before [to])", revisionArgument)
    .argument("[to]", "the newer revision (default: the newest)", revisionArgument)
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} diff routes.yaml       what apply would change
  $ ${program.name()} diff widgets           what the newest revision of widgets changed
  $ ${program.name()} diff widgets 3 5       what changed from revision 3 to revision 5
  $ ${program.name()} diff routes.yaml --fail-on=opens,breaks --output markdown`,
    )
    .action((target: string, from: number | undefined, to: number | undefined, options: ReviewOptions) =>
      run((context) => {
        if (from === undefined && isFile(target)) return showDryRun(context, target, options);
        return showDiff(context, target, { from, to }, options);
      }),
    );
}

async function showDiff(
  { registry, output }: CommandContext,
  service: string,
  given: { from?: number; to?: number },
  options: ReviewOptions,
): Promise<void> {
  const write = reviewWriter(output, options);
  const to = given.to ?? (await newestRevision(registry, service));
  const from = given.from ?? to - 1;
  if (from < 1) throw new UsageError(`${service} has one revision only: there is nothing to compare.`);
  const diff = await registry.call(Diff, pathTo("services", service, "revisions", from, "diff", to));
  const changes = markChanges(diff.changes);
  const counts = countEffects(changes);
  const state = `revision ${from} to ${to}`;
  write({ services: [{ service, state, changes }], counts }, { changes, ...counts });
}

function isFile(target: string): boolean {
  return target === "-" || target.includes("/") || /\.(ya?ml|json)$/i.test(target);
}

async function newestRevision(registry: CommandContext["registry"], service: string): Promise<number> {
  const { revisions } = await registry.call(Revisions, pathTo("services", service, "revisions"));
  return revisions[0]?.revision ?? 1;
}
