import { RecordedChanges } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { type Run, wholeNumber } from "./command.ts";

interface Options {
  service?: string;
  operator?: string;
  since?: string;
  limit: number;
}

/** Adds `changes`, which lists who wrote which service. */
export function addChanges(program: Command, run: Run): void {
  program
    .command("changes")
    .description("List the writes of all services, newest first, with who made them and why")
    .option("--service <service>", "only writes to this service")
    .option("--operator <operator>", "only writes by this operator")
    .option("--since <time>", "only writes after this time, such as 2026-01-31T12:00:00Z")
    .option("--limit <count>", "how many writes to list, at most 100", wholeNumber(100), 50)
    .addHelpText(
      "after",
      `
Examples:
  $ ${program.name()} changes
  $ ${program.name()} changes --operator team-widgets --since 2026-01-31T00:00:00Z`,
    )
    .action(({ service, operator, since, limit }: Options) =>
      run(async ({ registry, output }) => {
        const query = {
          limit: String(limit),
          ...(service !== undefined && { service }),
          ...(operator !== undefined && { operator }),
          ...(since !== undefined && { created_after: since }),
        };
        const response = await registry.call(RecordedChanges, pathTo("changes"), { query });
        output.result(response, ({ changes }) =>
          output.table(
            ["service", "revision", "action", "operator", "created", "reason", "link"],
            changes.map((change) => [
              change.service,
              String(change.revision),
              change.action,
              change.operator ?? "",
              change.created_at,
              change.reason ?? "",
              change.link ?? "",
            ]),
            "No changes.",
          ),
        );
      }),
    );
}
