import { Applied, Plan } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import type { CommandContext, Run } from "./command.ts";
import { readDocument } from "./document.ts";

/** `apply FILE`: publish a configuration document. */
export function addApply(program: Command, run: Run): void {
  program
    .command("apply")
    .description("Publish the services of a configuration document, all or none")
    .argument("<file>", "a YAML or .json file, or - for standard input")
    .option("--dry-run", "check everything and show what would change, but write nothing")
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli apply routes.yaml
  $ bun cli apply routes.yaml --dry-run
  $ generate-routes | bun cli apply -`,
    )
    .action((file: string, { dryRun }: { dryRun?: true }) =>
      run(async (context) => {
        if (dryRun) return showPlan(context, file);
        const { registry, output, terminal } = context;
        const answer = await registry.ask(Applied, pathTo("apply"), await readDocument(file, terminal));
        output.result(answer, ({ results }) =>
          output.table(
            ["service", "status", "revision"],
            results.map(({ service, status, revision }) => [service, status, String(revision)]),
            "Nothing was applied.",
          ),
        );
      }),
    );
}

/** What applying `file` would change. */
export async function showPlan({ registry, output, terminal }: CommandContext, file: string): Promise<void> {
  const request = await readDocument(file, terminal);
  const answer = await registry.ask(Plan, pathTo("apply"), { ...request, query: { dry_run: "true" } });
  output.result(answer, ({ results }) => {
    for (const { service, status, revision, changes } of results) {
      output.line(`${service}: ${status}${revision === null ? "" : `, current revision ${revision}`}`);
      if (changes.length > 0) output.changes(changes);
    }
  });
}
