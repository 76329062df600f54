import { Revisions } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import type { Run } from "./command.ts";

/** Adds `revisions SERVICE`, which lists the history of a service. */
export function addRevisions(program: Command, run: Run): void {
  program
    .command("revisions")
    .description("List the history of a service, newest first")
    .argument("<service>", "the name of a service, also of a deleted one")
    .addHelpText("after", `\nExample:\n  $ ${program.name()} revisions widgets`)
    .action((service: string) =>
      run(async ({ registry, output }) => {
        const response = await registry.call(Revisions, pathTo("services", service, "revisions"));
        output.result(response, ({ revisions }) =>
          output.table(
            ["revision", "action", "created", "request", "operator", "reason", "link"],
            revisions.map(
              ({ revision, action, restored_from, created_at, request_id, unreadable, ...author }) => [
                String(revision),
                (restored_from === null ? action : `${action} of ${restored_from}`) +
                  (unreadable === undefined ? "" : " (unreadable)"),
                created_at,
                request_id,
                author.operator ?? "",
                author.reason ?? "",
                author.link ?? "",
              ],
            ),
            "No revisions.",
          ),
        );
      }),
    );
}
