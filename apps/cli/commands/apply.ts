import { Applied, Plan } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import type { Output } from "../output.ts";
import { at, type Registry } from "../registry.ts";
import type { Terminal } from "../terminal.ts";
import type { Run } from "./context.ts";
import { readDocument } from "./document.ts";

/** `apply FILE`: publish a configuration document. */
export function addApply(program: Command, run: Run, terminal: Terminal): void {
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
      run(async ({ registry, output }) => {
        if (dryRun) return showPlan(registry, output, terminal, file);
        const answer = await registry.ask(Applied, at("apply"), await readDocument(file, terminal));
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
export async function showPlan(
  registry: Registry,
  output: Output,
  terminal: Terminal,
  file: string,
): Promise<void> {
  const request = await readDocument(file, terminal);
  const answer = await registry.ask(Plan, at("apply"), { ...request, query: { dry_run: "true" } });
  output.result(answer, ({ results }) => {
    for (const { service, status, revision, changes } of results) {
      output.line(`${service}: ${status}${revision === null ? "" : `, current revision ${revision}`}`);
      if (changes.length > 0) output.changes(changes);
    }
  });
}
