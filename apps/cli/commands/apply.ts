import { Applied, DryRun, markDryRun } from "@ostiary/lib/contracts/registry-api";
import { countEffects } from "@ostiary/lib/domain/routes";
import type { Command } from "commander";
import { UsageError } from "../exit-codes.ts";
import { pathTo } from "../registry-client.ts";
import { addReviewOptions, type ReviewOptions, reviewWriter } from "../review/write-review.ts";
import type { CommandContext, Run } from "./command.ts";
import { readDocument } from "./read-document.ts";
import { addWaitOption, reportPropagation, sendWrite, type WaitOptions } from "./wait-option.ts";

/** Adds `apply FILE`, which publishes a configuration document. */
export function addApply(program: Command, run: Run): void {
  addWaitOption(addReviewOptions(program.command("apply")))
    .description("Publish all services of a configuration document, or none")
    .argument("<file>", "a YAML or .json file, or - for standard input")
    .option("--dry-run", "check everything and show what would change, but write nothing")
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} apply routes.yaml
  $ ${program.name()} apply routes.yaml --wait
  $ ${program.name()} apply routes.yaml --dry-run
  $ ${program.name()} apply routes.yaml --dry-run --fail-on=opens,breaks
  $ generate-routes | ${program.name()} apply -`,
    )
    .action((file: string, { dryRun, wait, ...review }: { dryRun?: true } & WaitOptions & ReviewOptions) =>
      run(async (context) => {
        if (dryRun && wait !== undefined) {
          throw new UsageError("--dry-run and --wait cannot be given together: a dry run writes nothing.");
        }
        if (dryRun) return showDryRun(context, file, review);
        if (review.output !== undefined || review.failOn !== undefined) {
          throw new UsageError("--output and --fail-on are for a preview: add --dry-run.");
        }
        const { output, terminal } = context;
        const write = { schema: Applied, path: pathTo("apply"), ...(await readDocument(file, terminal)) };
        const response = await sendWrite(context, write, { wait });
        output.result(response, ({ results }) =>
          output.table(
            ["service", "status", "revision"],
            results.map(({ service, status, revision }) => [service, status, String(revision)]),
            "Nothing was applied.",
          ),
        );
        reportPropagation(context, response.propagation);
      }),
    );
}

/** Shows the changes that applying `file` would make. */
export async function showDryRun(
  { registry, output, terminal }: CommandContext,
  file: string,
  options: ReviewOptions,
): Promise<void> {
  const write = reviewWriter(output, options);
  const request = await readDocument(file, terminal);
  const response = await registry.call(DryRun, pathTo("apply"), { ...request, query: { dry_run: "true" } });
  const results = markDryRun(response.results);
  const counts = countEffects(results.flatMap(({ changes }) => changes));
  const services = results.map(({ service, status, revision, changes }) => ({
    service,
    state: revision === null ? status : `${status}, current revision ${revision}`,
    changes,
  }));
  write({ services, counts }, { results, ...counts });
}
